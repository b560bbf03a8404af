"""Defines the events of a connection that `server` and `client` return to the network layer."""

from __future__ import annotations

from typing import NamedTuple

from reliquary.wire.ndr.encoding import Encoding
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.syntaxes import SyntaxId


class Bound(NamedTuple):
    """A client may call this interface from now on."""

    association: int
    """The group of connections that share context handles; never 0, and unique among the groups
    that exist.
    """
    interface: SyntaxId
    encoding: Encoding


class Called(NamedTuple):
    """All fragments of a call have arrived."""

    association: int
    call: int
    """call_id: unique among the calls of this connection that have no answer yet."""
    interface: SyntaxId
    opnum: int
    stub: bytes
    """The stub without padding for authentication; a verification trailer was checked and removed."""
    encoding: Encoding
    user: str
    """The user that calls, as NTLM names it; empty for an anonymous caller."""
    protection: Protection


class Cancelled(NamedTuple):
    """The client cancels a call (co_cancel); it still waits for a response or a fault."""

    call: int


class Orphaned(NamedTuple):
    """The client has forgotten a call (orphaned): nothing may be sent for it."""

    call: int


class Opened(NamedTuple):
    """The client connection may be used for calls."""

    association: int
    """The number that further connections name, so that they share context handles with this one."""
    encoding: Encoding
    multiplexed: bool
    """Whether several calls may be pending."""


class Returned(NamedTuple):
    """The server has answered a call of this client."""

    call: int
    stub: bytes
    encoding: Encoding


class Faulted(NamedTuple):
    """The server refused a call, or its method raised a status."""

    call: int
    status: int


class Closed(NamedTuple):
    """The connection is to be closed after the written bytes were sent."""

    why: str


ServerEvent = Bound | Called | Cancelled | Orphaned | Closed
ClientEvent = Opened | Returned | Faulted | Closed
