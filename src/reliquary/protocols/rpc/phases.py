"""Defines the phases of an accepted connection and its reactions to PDUs, [MS-RPCE] 3.3.3, C706 chapter 11.

          bind without a token
NEW ------------------------------------> BOUND     requests, more alter_contexts
 |                                         |  ^
 | bind with a token                       |  | auth3, or the last token of an alter_context
 '-------------> SECURING <----------------'  |
                     |   alter_context, token |
                     '------------------------'
A PDU that must not come ends the connection: CLOSED.

Modules of this folder:

    server        one accepted connection: bytes in, calls out; answers in, bytes out
      phases        what it does with each PDU
      presentation  which interfaces and transfer syntaxes a client may use
      logins        the security contexts of a client
      calls         requests into calls, and answers into responses
      limits        how much a client may have
    client        one client connection: calls in, bytes out; bytes in, answers out
    events        the events in received bytes, for the network layer
    fragments     bytes into PDUs, and fragments into stubs; `sending` is the other way
    guards        one security context at work
    associations  the groups of connections that share context handles
    security      the interface of NTLM and SPNEGO, which `net/rpc` implements
    mgmt, epm     the two interfaces that every server has: what runs here, and at which port
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum, auto
from typing import Final

from reliquary.wire.rpc.header import PduType


class Phase(Enum):
    """The phases of an accepted connection."""

    NEW = auto()
    """No bind has come on the connection."""
    SECURING = auto()
    """A security context waits for a token of the client."""
    BOUND = auto()
    """The client is bound to an interface, and may call."""
    CLOSED = auto()
    """No bytes are read any more."""


class Task(Enum):
    """The reaction to a PDU."""

    BIND = auto()
    ALTER = auto()
    AUTHENTICATE = auto()
    CALL = auto()
    CANCEL = auto()
    FORGET = auto()
    NAK = auto()
    """A bind that comes in a phase that does not allow it."""
    REFUSE = auto()
    """The PDU violates the protocol and is refused."""


_OF_SERVERS: Final = (
    PduType.RESPONSE,
    PduType.FAULT,
    PduType.BIND_ACK,
    PduType.BIND_NAK,
    PduType.ALTER_CONTEXT_RESP,
    PduType.SHUTDOWN,
)
"""PDUs that no client sends."""
OPEN_PHASES: Final = (Phase.NEW, Phase.SECURING, Phase.BOUND)

TASKS: Final[Mapping[tuple[Phase, PduType], Task]] = {
    **{(phase, kind): Task.REFUSE for phase in OPEN_PHASES for kind in _OF_SERVERS},
    (Phase.NEW, PduType.BIND): Task.BIND,
    (Phase.NEW, PduType.ALTER_CONTEXT): Task.REFUSE,
    (Phase.NEW, PduType.AUTH3): Task.REFUSE,
    (Phase.NEW, PduType.REQUEST): Task.REFUSE,
    (Phase.NEW, PduType.CO_CANCEL): Task.REFUSE,
    (Phase.NEW, PduType.ORPHANED): Task.REFUSE,
    (Phase.SECURING, PduType.BIND): Task.NAK,
    (Phase.SECURING, PduType.ALTER_CONTEXT): Task.ALTER,
    (Phase.SECURING, PduType.AUTH3): Task.AUTHENTICATE,
    (Phase.SECURING, PduType.REQUEST): Task.REFUSE,
    (Phase.SECURING, PduType.CO_CANCEL): Task.CANCEL,
    (Phase.SECURING, PduType.ORPHANED): Task.FORGET,
    (Phase.BOUND, PduType.BIND): Task.NAK,
    (Phase.BOUND, PduType.ALTER_CONTEXT): Task.ALTER,
    (Phase.BOUND, PduType.AUTH3): Task.REFUSE,
    (Phase.BOUND, PduType.REQUEST): Task.CALL,
    (Phase.BOUND, PduType.CO_CANCEL): Task.CANCEL,
    (Phase.BOUND, PduType.ORPHANED): Task.FORGET,
}


def task_of(phase: Phase, kind: int) -> Task:
    """Return the reaction to a PDU; a type that does not exist is a protocol error."""
    try:
        return TASKS[phase, PduType(kind)]
    except ValueError:
        return Task.REFUSE
