"""Implements the management interface of every server, C706 appendix Q with [MS-RPCE] 2.2.1.3.

opnum   0 inq_if_ids               the interfaces of this server
        1 inq_stats                calls and packets, in and out
        2 is_server_listening      yes
        3 stop_server_listening    refused
        4 inq_princ_name           the name of the server, for one type of authentication
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final, NamedTuple

from reliquary.wire.ndr.encoding import Encoding
from reliquary.wire.ndr.reader import NdrFault, NdrReader
from reliquary.wire.ndr.writer import NdrWriter
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.syntaxes import SyntaxId

INQ_IF_IDS: Final = 0
INQ_STATS: Final = 1
IS_SERVER_LISTENING: Final = 2
STOP_SERVER_LISTENING: Final = 3
INQ_PRINC_NAME: Final = 4

OK: Final = 0
UNKNOWN_AUTHN_SERVICE: Final = 0x6D3
STRING_TOO_LONG: Final = 0x6CF
MOST_STATISTICS: Final = 50
MOST_OF_NAME: Final = 4096
REFERENT: Final = 0x00020000


class Statistics(NamedTuple):
    """The counters of a server, in the order of rpc_mgmt_inq_stats."""

    calls_in: int = 0
    calls_out: int = 0
    packets_in: int = 0
    packets_out: int = 0


class Server(NamedTuple):
    """The information that a server returns about itself."""

    interfaces: Sequence[SyntaxId] = ()
    statistics: Statistics = Statistics()
    principals: Mapping[int, str] = {}
    """The name of the server, by the type of authentication."""


def answer(opnum: int, stub: bytes, encoding: Encoding, server: Server) -> bytes | FaultStatus:
    """Return the stub of a response, or the status of a failure."""
    method = METHODS.get(opnum)
    if method is None:
        return FaultStatus.OP_RANGE
    response = NdrWriter(encoding)
    try:
        method(NdrReader(stub, encoding), response, server)
    except NdrFault:
        return FaultStatus.BAD_STUB_DATA
    return response.take()


def _inq_if_ids(_request: NdrReader, response: NdrWriter, server: Server) -> None:
    """Write a pointer to an array of pointers to interface identifiers."""
    count = len(server.interfaces)
    response.pointer(REFERENT)
    response.size(count)
    response.u32(count)
    for number, _ in enumerate(server.interfaces, 1):
        response.pointer(REFERENT + 4 * number)
    for interface in server.interfaces:
        response.guid(interface.uuid)
        response.u16(interface.major)
        response.u16(interface.minor)
    response.u32(OK)


def _inq_stats(request: NdrReader, response: NdrWriter, server: Server) -> None:
    """Write as many numbers as the client has room for, [MS-RPCE] 2.2.1.3.3."""
    room = request.u32()
    if room > MOST_STATISTICS:
        raise NdrFault(request.at, f"the client has room for {room} numbers, more than {MOST_STATISTICS}")
    numbers = server.statistics[:room]
    response.u32(len(numbers))
    response.size(len(numbers))
    for number in numbers:
        response.u32(number & 0xFFFFFFFF)
    response.u32(OK)


def _is_server_listening(_request: NdrReader, response: NdrWriter, _server: Server) -> None:
    response.u32(OK)
    response.u32(1)


def _stop_server_listening(_request: NdrReader, response: NdrWriter, _server: Server) -> None:
    """Refuse the request, because only its administrator stops the server."""
    response.u32(FaultStatus.ACCESS_DENIED)


def _inq_princ_name(request: NdrReader, response: NdrWriter, server: Server) -> None:
    """Write the name of the server, [MS-RPCE] 2.2.1.3.4.

    An empty one if there is none, or if it is too long.
    """
    auth_type, room = request.u32(), request.u32()
    if room > MOST_OF_NAME:
        raise NdrFault(request.at, f"the client has room for {room} characters, more than {MOST_OF_NAME}")
    known = server.principals.get(auth_type)
    name = (known or "").encode("ascii", "replace") + b"\0"
    status = UNKNOWN_AUTHN_SERVICE if known is None else OK
    if len(name) > room:
        name, status = b"\0"[:room], status or STRING_TOO_LONG
    response.size(room)
    response.size(0)
    response.size(len(name))
    response.raw(name)
    response.u32(status)


METHODS: Final[dict[int, Callable[[NdrReader, NdrWriter, Server], None]]] = {
    INQ_IF_IDS: _inq_if_ids,
    INQ_STATS: _inq_stats,
    IS_SERVER_LISTENING: _is_server_listening,
    STOP_SERVER_LISTENING: _stop_server_listening,
    INQ_PRINC_NAME: _inq_princ_name,
}
