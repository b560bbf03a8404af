"""Encodes protocol towers, C706 appendices I and L: an interface, its protocols and its address.

    floor 1   0d UUID major | minor          the interface
    floor 2   0d UUID major | minor          the transfer syntax
    floor 3   0b            | minor          DCE/RPC over a connection
    floor 4   07            | port           TCP, big-endian
    floor 5   09            | address        IP, in the order of the network

Each floor is two byte strings with their lengths: what the protocol is, and where.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv4Address
from struct import Struct as Layout
from typing import Final, NamedTuple
from uuid import UUID

from reliquary.wire.rpc.syntaxes import SyntaxId

MOST_BYTES: Final = 2000
"""The largest tower_length, [MS-RPCE] 2.2.1.2.2."""
ANY_HOST: Final = IPv4Address(0)
UUID_FLOOR: Final = 0x0D
CONNECTION_FLOOR: Final = 0x0B
TCP_FLOOR: Final = 0x07
IP_FLOOR: Final = 0x09

_COUNT: Final = Layout("<H")
_SYNTAX: Final = Layout("<B16sH")
_PORT: Final = Layout(">H")
_FLOORS: Final = 5


class TowerFault(ValueError):
    """Says that bytes are no tower."""


class Floor(NamedTuple):
    """One protocol of a tower."""

    protocol: bytes
    """The number of the protocol, and for a syntax its identifier and major version."""
    address: bytes


class Tower(NamedTuple):
    """A protocol tower: an interface that is reached over TCP."""

    interface: SyntaxId
    transfer: SyntaxId
    port: int
    host: IPv4Address = ANY_HOST


def encode_tower(tower: Tower) -> bytes:
    """Return the bytes of a tower over TCP."""
    return encode_floors(
        (
            _syntax_floor(tower.interface),
            _syntax_floor(tower.transfer),
            Floor(bytes((CONNECTION_FLOOR,)), bytes(2)),
            Floor(bytes((TCP_FLOOR,)), _PORT.pack(tower.port)),
            Floor(bytes((IP_FLOOR,)), tower.host.packed),
        )
    )


def decode_tower(data: bytes) -> Tower | None:
    """Return the tower in some bytes; None for a tower over other protocols; raise TowerFault for other
    bytes."""
    floors = decode_floors(data)
    numbers = [floor.protocol[:1] for floor in floors[2:]]
    if len(floors) != _FLOORS or numbers != [b"\x0b", b"\x07", b"\x09"]:
        return None
    if len(floors[3].address) != _PORT.size or len(floors[4].address) != IPv4Address(0).max_prefixlen // 8:
        raise TowerFault("the port or the address has the wrong length")
    (port,) = _PORT.unpack(floors[3].address)
    return Tower(_syntax_of(floors[0]), _syntax_of(floors[1]), port, IPv4Address(floors[4].address))


def encode_floors(floors: Sequence[Floor]) -> bytes:
    """Return the bytes of a tower with these floors."""
    parts = [_COUNT.pack(len(floors))]
    for floor in floors:
        for half in floor:
            parts += (_COUNT.pack(len(half)), half)
    return b"".join(parts)


def decode_floors(data: bytes) -> list[Floor]:
    """Return the floors of a tower; raise TowerFault when a length is wrong."""
    if len(data) < _COUNT.size:
        raise TowerFault("a tower begins with the number of its floors")
    (count,) = _COUNT.unpack_from(data)
    floors, at = [], _COUNT.size
    for _ in range(count):
        protocol, at = _half(data, at)
        address, at = _half(data, at)
        floors.append(Floor(protocol, address))
    return floors


def _half(data: bytes, at: int) -> tuple[bytes, int]:
    start = at + _COUNT.size
    if start > len(data):
        raise TowerFault(f"the tower ends at {len(data)}, inside a floor")
    end = start + _COUNT.unpack_from(data, at)[0]
    if end > len(data):
        raise TowerFault(f"a floor ends at {end}, behind the tower of {len(data)} bytes")
    return data[start:end], end


def _syntax_floor(syntax: SyntaxId) -> Floor:
    return Floor(
        _SYNTAX.pack(UUID_FLOOR, syntax.uuid.bytes_le, syntax.major),
        _COUNT.pack(syntax.minor),
    )


def _syntax_of(floor: Floor) -> SyntaxId:
    if len(floor.protocol) != _SYNTAX.size or floor.protocol[0] != UUID_FLOOR:
        raise TowerFault("the floor of a syntax has a UUID and a major version")
    if len(floor.address) != _COUNT.size:
        raise TowerFault("the minor version of a syntax has two bytes")
    _, uuid, major = _SYNTAX.unpack(floor.protocol)
    return SyntaxId(UUID(bytes_le=uuid), major, *_COUNT.unpack(floor.address))
