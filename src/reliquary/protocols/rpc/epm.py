"""Implements the endpoint mapper, C706 appendix O with [MS-RPCE] 2.2.1.2: the port of each interface.

    opnum   2 ept_lookup               all endpoints, or those of an interface
            3 ept_map                  the ports of one interface; clients ask this before they connect
            4 ept_lookup_handle_free
    map_request, read_map_response     the client's half of ept_map

A client that requests fewer endpoints than exist gets a context handle for the next ones.  The handle
contains the number of the next endpoint, so no state is kept for it here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ipaddress import IPv4Address
from typing import Final, NamedTuple
from uuid import UUID

from reliquary.wire.ndr.encoding import NDR20, Encoding
from reliquary.wire.ndr.reader import NdrFault, NdrReader
from reliquary.wire.ndr.writer import NdrWriter
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.syntaxes import ENCODINGS, NDR20_SYNTAX, SyntaxId
from reliquary.wire.rpc.towers import (
    ANY_HOST,
    MOST_BYTES,
    Tower,
    TowerFault,
    decode_tower,
    encode_tower,
)

EPT_LOOKUP: Final = 2
EPT_MAP: Final = 3
EPT_LOOKUP_HANDLE_FREE: Final = 4

OK: Final = 0
NOT_REGISTERED: Final = 0x16C9A0D6
"""No element matches the search, or no more elements exist."""
MOST_ENTRIES: Final = 500
"""The range of max_ents and max_towers."""
REFERENT: Final = 0x00020000
NIL_UUID: Final = UUID(int=0)

ALL: Final = 0
BY_INTERFACE: Final = 1
BY_OBJECT: Final = 2
BY_BOTH: Final = 3

_HANDLES: Final = UUID("52454c49-5155-4152-5900-000000000000").int
"""The first part of search handles; the number of endpoints returned so far follows it."""
_SHOWN: Final = 0xFFFFFFFF


class Endpoint(NamedTuple):
    """An interface at a port of this computer."""

    interface: SyntaxId
    port: int
    annotation: str = ""
    """A description of the service for display: up to 63 ASCII characters."""


class _Search(NamedTuple):
    """The input of a method."""

    request: NdrReader
    encoding: Encoding
    endpoints: Sequence[Endpoint]
    host: IPv4Address


def answer(
    opnum: int,
    stub: bytes,
    encoding: Encoding,
    endpoints: Sequence[Endpoint],
    host: IPv4Address = ANY_HOST,
) -> bytes | FaultStatus:
    """Return the stub of a response, or the status of a failure.

    `host` is our address as the client knows it.
    """
    method = METHODS.get(opnum)
    if method is None:
        return FaultStatus.OP_RANGE
    try:
        return method(_Search(NdrReader(stub, encoding), encoding, endpoints, host))
    except NdrFault:
        return FaultStatus.BAD_STUB_DATA
    except _NotOurs:
        return FaultStatus.CONTEXT_MISMATCH


class _NotOurs(Exception):
    """A context handle that was not made here."""


def _map(search: _Search) -> bytes:
    """Answer ept_map, [MS-RPCE] 2.2.1.2.5; an interface without an object UUID serves every object."""
    request = search.request
    _skip_object(request)
    wanted = _read_tower(request) if request.pointer() else None
    shown = _shown_before(request.handle())
    most = _read_limit(request)
    found = [
        wanted._replace(interface=each.interface, port=each.port, host=search.host)
        for each in search.endpoints
        if wanted is not None and wanted.transfer in ENCODINGS and _serves(each.interface, wanted.interface)
    ]
    page = found[shown : shown + most]
    response = NdrWriter(search.encoding)
    _write_page(response, shown, len(page), len(found), most)
    for number, _ in enumerate(page, 1):
        response.pointer(REFERENT + 4 * number)
    for tower in page:
        _write_tower(response, tower)
    response.u32(OK if page else NOT_REGISTERED)
    return response.take()


def _lookup(search: _Search) -> bytes:
    """Answer ept_lookup, [MS-RPCE] 2.2.1.2.4; no endpoint here is for a single object."""
    request = search.request
    inquiry = request.u32()
    an_object = _skip_object(request)
    interface = _read_interface(request) if request.pointer() else None
    version = request.u32()
    shown = _shown_before(request.handle())
    most = _read_limit(request)
    found = [
        each
        for each in search.endpoints
        if _is_meant(each.interface, inquiry, interface, version, an_object=an_object)
    ]
    page = found[shown : shown + most]
    response = NdrWriter(search.encoding)
    _write_page(response, shown, len(page), len(found), most)
    for number, each in enumerate(page, 1):
        _write_entry(response, number, each)
    for each in page:
        _write_tower(response, Tower(each.interface, NDR20_SYNTAX, each.port, search.host))
    response.u32(OK if page else NOT_REGISTERED)
    return response.take()


def _free(search: _Search) -> bytes:
    """Answer ept_lookup_handle_free, [MS-RPCE] 2.2.1.2.8: the handle is NULL afterwards."""
    _shown_before(search.request.handle())
    response = NdrWriter(search.encoding)
    response.handle(NIL_UUID)
    response.u32(OK)
    return response.take()


METHODS: Final[dict[int, Callable[[_Search], bytes]]] = {
    EPT_LOOKUP: _lookup,
    EPT_MAP: _map,
    EPT_LOOKUP_HANDLE_FREE: _free,
}
"""The methods by opnum; others are not offered, because the map cannot be changed from outside."""


# The meaning of the fields.


def _serves(ours: SyntaxId, wanted: SyntaxId) -> bool:
    """Return whether an interface is compatible with the version that a client wants."""
    return (ours.uuid, ours.major) == (wanted.uuid, wanted.major) and ours.minor >= wanted.minor


VERSIONS: Final[dict[int, Callable[[SyntaxId, SyntaxId], bool]]] = {
    1: lambda ours, wanted: ours.uuid == wanted.uuid,
    2: _serves,
    3: lambda ours, wanted: ours == wanted,
    4: lambda ours, wanted: ours[:2] == wanted[:2],
    5: lambda ours, wanted: ours.uuid == wanted.uuid and ours[1:] <= wanted[1:],
}
"""The comparisons of vers_option: all, compatible, exact, major only, up to."""


def _is_meant(
    ours: SyntaxId, inquiry: int, wanted: SyntaxId | None, version: int, *, an_object: bool
) -> bool:
    if inquiry == ALL:
        return True
    right_object = inquiry == BY_INTERFACE or (inquiry in {BY_OBJECT, BY_BOTH} and not an_object)
    if inquiry == BY_OBJECT or not right_object:
        return right_object
    matches = VERSIONS.get(version)
    return wanted is not None and matches is not None and matches(ours, wanted)


# Parts of requests and responses.


def _skip_object(request: NdrReader) -> bool:
    """Read the object UUID; return whether there is one that is not nil."""
    return bool(request.pointer()) and request.guid() != NIL_UUID


def _read_interface(request: NdrReader) -> SyntaxId:
    return SyntaxId(request.guid(), request.u16(), request.u16())


def _read_tower(request: NdrReader) -> Tower | None:
    """Read a tower; None for one with other protocols, or one that cannot be read."""
    most, length = request.size(), request.u32()
    if length > MOST_BYTES or most != length:
        why = f"a tower has {length} bytes in an array of {most}: both are equal, and at most {MOST_BYTES}"
        raise NdrFault(request.at, why)
    try:
        return decode_tower(request.raw(length))
    except TowerFault:
        return None


def _read_limit(request: NdrReader) -> int:
    limit = request.u32()
    if limit > MOST_ENTRIES:
        raise NdrFault(request.at, f"{limit} entries are asked for at once; at most {MOST_ENTRIES} may be")
    return limit


def _shown_before(handle: UUID) -> int:
    """Return how many endpoints earlier calls with this handle have returned."""
    if handle == NIL_UUID:
        return 0
    if handle.int & ~_SHOWN != _HANDLES:
        raise _NotOurs
    return handle.int & _SHOWN


def _write_page(response: NdrWriter, shown: int, here: int, found: int, most: int) -> None:
    """Write the handle for the next call, and the head of a conformant varying array."""
    more = here and shown + here < found
    response.handle(UUID(int=_HANDLES + shown + here) if more else NIL_UUID)
    response.u32(here)
    response.size(most)
    response.size(0)
    response.size(here)


def _write_entry(response: NdrWriter, number: int, endpoint: Endpoint) -> None:
    """Write an ept_entry_t, C706 appendix O; its tower follows after all entries."""
    text = endpoint.annotation.encode("ascii", "replace")[:63] + b"\0"
    response.align(8 if response.encoding.wide else 4)
    response.guid(NIL_UUID)
    response.pointer(REFERENT + 4 * number)
    response.size(0)
    response.size(len(text))
    response.raw(text)


def _write_tower(response: NdrWriter, tower: Tower) -> None:
    """Write a twr_t, [MS-RPCE] 2.2.1.2.2."""
    data = encode_tower(tower)
    response.size(len(data))
    response.u32(len(data))
    response.raw(data)


# The client's half.


def map_request(interface: SyntaxId, most: int = 4) -> bytes:
    """Return the stub of an ept_map call, in NDR 2.0, for the ports of an interface."""
    request = NdrWriter(NDR20)
    request.pointer(0)
    request.pointer(REFERENT)
    _write_tower(request, Tower(interface, NDR20_SYNTAX, 0))
    request.handle(NIL_UUID)
    request.u32(most)
    return request.take()


def read_map_response(stub: bytes, encoding: Encoding = NDR20) -> list[Tower]:
    """Return the towers over TCP that a mapper has found; NdrFault for a stub that cannot be read."""
    response = NdrReader(stub, encoding)
    response.handle()
    count, most, start, here = response.u32(), response.size(), response.size(), response.size()
    if start or not count == here <= most <= MOST_ENTRIES:
        raise NdrFault(response.at, f"{count} towers are elements {start} to {here} of {most}")
    pointers = [response.pointer() for _ in range(count)]
    towers = [_read_tower(response) for pointer in pointers if pointer]
    status = response.u32()
    return [tower for tower in towers if tower is not None] if status == OK else []
