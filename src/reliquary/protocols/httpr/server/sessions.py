"""Sessions and the capabilities in force, 3.6, 3.7 and B.6 of the digest; all of it is forgotten by a crash.

             GET-RESPONDER-INFO (any older one ends)
      none -------------------------------------------> active --. request: used now
       ^                                                  | ^----'
       '--------------------------------------------------'
         session:end, an error, a rollback that others are behind, idle: later requests get 528

The timer of a session is not set anew with each request: when it runs out, it is set for the rest.
"""

from __future__ import annotations

from functools import lru_cache
from string import ascii_uppercase, digits
from typing import Final

from msgspec.structs import replace

from reliquary.base.time import Duration, Instant
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.protocols.httpr.apply import apply
from reliquary.protocols.httpr.codec.capabilities import granted, lowered
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import (
    BatchLimits,
    Capabilities,
    Command,
    ErrorNumber,
    Fields,
    RequestHeader,
)
from reliquary.protocols.httpr.facts import SessionNumbered
from reliquary.protocols.httpr.server.channel import Served, Session
from reliquary.protocols.httpr.state import State
from reliquary.queueing.security.principals import Principal

IDLE_SESSION: Final = "httpr-idle"
"""The timer of a session, by its channel."""
DEFAULTS: Final = Capabilities()
SESSIONLESS_ONLY: Final[Fields] = (("session_support", "SESSIONLESS"),)
"""What a server without sessions says (HR-065)."""
STRANGERS: Final = BatchLimits(message_bytes=1024 * 1024, messages=DEFAULTS.maximum_batch_size)
"""For batches that will be refused: they are read only so that the connection can go on."""

_DIGITS: Final = digits + ascii_uppercase


def begin(
    state: State, served: Served, proposed: Capabilities | None, by: Principal, now: Instant
) -> tuple[Session, Fields | None]:
    """A session with a name that none ever had, and the capabilities that are less than proposed."""
    end(state, served)
    agreed, less = agree(proposed, state.settings.offered)
    number = max(state.numbers.session + 1, now)
    apply(state, SessionNumbered(number))
    session = Session(base_36(number), agreed, by, now)
    served.session = session
    state.sessions[session.identifier] = served.channel
    state.draft.ask(SetTimer((IDLE_SESSION, served.channel), session.patience))
    return session, less


def end(state: State, served: Served) -> None:
    """The session of a channel is over, if it has one; what is on disk stays (HR-031)."""
    if served.session is None:
        return
    del state.sessions[served.session.identifier]
    served.session = None
    state.draft.ask(CancelTimer((IDLE_SESSION, served.channel)))


def on_idle(state: State, served: Served, now: Instant) -> None:
    """The timer ran out: the session ends, unless something happened in it meanwhile (HR-093)."""
    session = served.session
    if session is None:
        return
    rest = session.used + session.patience - now
    if served.line:
        rest = session.patience
    if rest > 0:
        # whatever the calendar did meanwhile, it is not kept longer than that
        rest = min(rest, session.patience)
        state.draft.ask(SetTimer((IDLE_SESSION, served.channel), Duration(rest)))
    else:
        end(state, served)


@lru_cache(maxsize=256)
def agree(proposed: Capabilities | None, offered: Capabilities) -> tuple[Capabilities, Fields | None]:
    """What is in force, and what of it is less than proposed (HR-037, HR-064); 510 where that is nothing."""
    wanted = proposed or DEFAULTS
    agreed = granted(wanted, offered)
    if not agreed.flows:
        raise _incompatible("no flow is left of those that were proposed")
    for name in ("maximum_batch_size", "maximum_pipeline_depth"):
        if getattr(agreed, name) < 1:
            raise _incompatible(f"nothing can be sent with {name}={getattr(agreed, name)}")
    if not agreed.sessions and not agreed.sessionless:  # `session:begin` asked for one all the same (H-06)
        wanted = replace(wanted, sessions=False, sessionless=False)
    return agreed, lowered(wanted, agreed)


def sessionless(
    proposed: Capabilities | None, offered: Capabilities, command: Command
) -> tuple[Capabilities, Fields | None]:
    """What is in force for one request outside any session, and what its answer lowers (HR-128)."""
    agreed, less = agree(proposed, offered)
    if command is Command.GET_RESPONDER_INFO:
        less = None  # that is for the session
    elif not offered.sessionless:
        raise _incompatible("requests need a session here")
    return replace(agreed, maximum_pipeline_depth=1), less  # HR-027


def limits_of(state: State, service: str, header: RequestHeader) -> BatchLimits:
    """What the batch of a request may have, known when its header is."""
    del service
    if header.session_id:
        number = state.sessions.get(header.session_id)
        session = None if number is None else state.served[number].session
        if session is None:
            return STRANGERS
        agreed = session.agreed
    else:
        agreed = granted(header.capabilities or DEFAULTS, state.settings.offered)
    return BatchLimits(agreed.maximum_message_size, agreed.maximum_batch_size)


def base_36(number: int) -> str:
    """A SessionId: at most 12 letters and digits until the year 150,000 (HR-100).

    >>> base_36(1_700_000_000_000_000)
    'GQLL7VATQ8'
    """
    text = ""
    while number:
        number, rest = divmod(number, 36)
        text = _DIGITS[rest] + text
    return text or "0"


def _incompatible(why: str) -> HttprFault:
    return HttprFault(ErrorNumber.INCOMPATIBLE, why, spec="5.6")
