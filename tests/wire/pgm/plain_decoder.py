"""PGM packets read a second time, from the drawings of RFC 3208 alone: no code is shared with the codec.

`fields(raw)` gives what a packet says as a flat dictionary, or raises ValueError.
"""

from __future__ import annotations

from io import BytesIO


def fields(raw: bytes) -> dict[str, object]:
    """Return everything that a packet says, by the names of the RFC in lower case."""
    stream = BytesIO(raw)
    said: dict[str, object] = {"sport": number(stream, 2), "dport": number(stream, 2)}
    kind, flags = number(stream, 1), number(stream, 1)
    said |= {"type": kind, "checksum": number(stream, 2), "gsi": stream.read(6).hex()}
    length = number(stream, 2)
    if kind == 0x00:
        said |= {"sqn": number(stream, 4), "trail": number(stream, 4), "lead": number(stream, 4)}
        said["path"] = address(stream)
    elif kind in (0x04, 0x05):
        said |= {"sqn": number(stream, 4), "trail": number(stream, 4)}
    elif kind in (0x08, 0x09, 0x0A):
        said |= {"sqn": number(stream, 4), "src": address(stream), "grp": address(stream)}
    else:
        raise ValueError(f"type {kind}")
    if flags & 1:
        options(stream, said)
    said["network"] = bool(flags & 2)
    said["data"] = stream.read(length)
    if stream.read():
        raise ValueError("bytes are left over")
    if ones_complement_sum(raw) != 0xFFFF:
        raise ValueError("the checksum is wrong")
    return said


def number(stream: BytesIO, size: int) -> int:
    """Read an unsigned number of `size` bytes."""
    return int.from_bytes(stream.read(size), "big")


def address(stream: BytesIO) -> str:
    """Return an IPv4 address as text."""
    if (number(stream, 2), number(stream, 2)) != (1, 0):
        raise ValueError("the address is not of IPv4")
    return ".".join(str(byte) for byte in stream.read(4))


def options(stream: BytesIO, said: dict[str, object]) -> None:
    """Read the option extensions into `said`."""
    begin = stream.tell()
    if (number(stream, 1), number(stream, 1)) != (0, 4):
        raise ValueError("no OPT_LENGTH")
    end = begin + number(stream, 2)
    last = False
    while not last:
        head, size = number(stream, 1), number(stream, 1)
        last = bool(head & 0x80)
        number(stream, 1)
        specific, value = number(stream, 1), BytesIO(stream.read(size - 4))
        match head & 0x7F:
            case 0x01:
                said["fragment"] = (number(value, 4), number(value, 4), number(value, 4))
            case 0x02:
                said["list"] = [number(value, 4) for _ in range((size - 4) // 4)]
            case 0x03:
                said["join"] = number(value, 4)
            case 0x0D:
                said["syn"] = True
            case 0x0E:
                said["fin"] = True
            case 0x0F:
                said["rst"] = specific
            case _:
                pass
    if stream.tell() != end:
        raise ValueError("OPT_LENGTH is wrong")


def ones_complement_sum(raw: bytes | bytearray) -> int:
    """Word by word, with the carry brought round."""
    total = 0
    for at in range(0, len(raw), 2):
        total += int.from_bytes(raw[at : at + 2].ljust(2, b"\0"), "big")
        total = (total & 0xFFFF) + (total >> 16)
    return total
