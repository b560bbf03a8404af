"""Begins and ends sessions, with the capabilities in force, 3.6 and 3.7; a crash ends all sessions.

             GET-RESPONDER-INFO (any older one ends)
      none -------------------------------------------> active --. request: last_used = now
       ^                                                  | ^----'
       '--------------------------------------------------'
         session:end, an error, a rollback with requests behind it, idle: later requests get 528

The timer of a session is not set again with each request: when it fires, it is set for the remaining time.
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
from reliquary.protocols.httpr.server.channel import ServerChannel, Session
from reliquary.protocols.httpr.server.refusals import fault
from reliquary.protocols.httpr.state import State
from reliquary.queueing.model.security.principals import Principal

IDLE_SESSION: Final = "httpr-idle"
"""The timer of a session, by its channel."""
DEFAULTS: Final = Capabilities()
SESSIONLESS_ONLY: Final[Fields] = (("session_support", "SESSIONLESS"),)
"""The capabilities in the response of a server without sessions (HR-065)."""
UNIDENTIFIED: Final = BatchLimits(message_bytes=1024 * 1024, messages=DEFAULTS.maximum_batch_size)
"""The limits of batches that will be refused: they are read only to keep the connection usable."""

_DIGITS: Final = digits + ascii_uppercase


def begin(
    state: State, channel: ServerChannel, proposed: Capabilities | None, by: Principal, now: Instant
) -> tuple[Session, Fields | None]:
    """Begin a session with a new identifier; return it, and the capabilities that are lower than proposed."""
    end(state, channel)
    agreed, lowered_fields = agree(proposed, state.settings.offered)
    number = max(state.numbers.session + 1, now)
    apply(state, SessionNumbered(number))
    session = Session(base_36(number), agreed, by, now)
    channel.session = session
    state.server.sessions[session.identifier] = channel.number
    state.draft.ask(SetTimer((IDLE_SESSION, channel.number), session.idle_limit))
    return session, lowered_fields


def end(state: State, channel: ServerChannel) -> None:
    """End the session of a channel, if there is one; the row does not change (HR-031)."""
    if channel.session is None:
        return
    del state.server.sessions[channel.session.identifier]
    channel.session = None
    state.draft.ask(CancelTimer((IDLE_SESSION, channel.number)))


def on_idle(state: State, channel: ServerChannel, now: Instant) -> None:
    """End a session whose timer fired, unless it was used in between (HR-093)."""
    session = channel.session
    if session is None:
        return
    left = session.last_used + session.idle_limit - now
    if channel.requests:
        left = session.idle_limit
    if left > 0:
        left = min(left, session.idle_limit)  # the clock may have been set back in between
        state.draft.ask(SetTimer((IDLE_SESSION, channel.number), Duration(left)))
    else:
        end(state, channel)


@lru_cache(maxsize=256)
def agree(proposed: Capabilities | None, offered: Capabilities) -> tuple[Capabilities, Fields | None]:
    """Return the capabilities in force, and those that are lower than proposed (HR-037, HR-064).

    HttprFault 510 if nothing could be sent with them.
    """
    wanted = proposed or DEFAULTS
    agreed = granted(wanted, offered)
    if not agreed.flows:
        raise _incompatible("no flow is left of those that were proposed")
    for name in ("maximum_batch_size", "maximum_pipeline_depth"):
        if getattr(agreed, name) < 1:
            raise _incompatible(f"nothing can be sent with {name}={getattr(agreed, name)}")
    if not agreed.sessions and not agreed.sessionless:  # though `session:begin` asked (H-06)
        wanted = replace(wanted, sessions=False, sessionless=False)
    return agreed, lowered(wanted, agreed)


def sessionless(
    proposed: Capabilities | None, offered: Capabilities, command: Command
) -> tuple[Capabilities, Fields | None]:
    """Return the capabilities for a request without a session, and those that its answer lowers (HR-128)."""
    agreed, lowered_fields = agree(proposed, offered)
    if command is Command.GET_RESPONDER_INFO:
        lowered_fields = None  # the answer lists what is lowered for the session
    elif not offered.sessionless:
        raise _incompatible("requests need a session here")
    return replace(agreed, maximum_pipeline_depth=1), lowered_fields  # HR-027


def limits_of(state: State, service: str, header: RequestHeader) -> BatchLimits:
    """Return the limits of a request's batch, which are known as soon as its header is read."""
    del service
    if header.session_id:
        number = state.server.sessions.get(header.session_id)
        session = None if number is None else state.server.channels[number].session
        if session is None:
            return UNIDENTIFIED
        agreed = session.agreed
    else:
        agreed = granted(header.capabilities or DEFAULTS, state.settings.offered)
    return BatchLimits(agreed.maximum_message_size, agreed.maximum_batch_size)


def base_36(number: int) -> str:
    """Return a SessionId: at most 12 letters and digits until the year 150,000 (HR-100).

    >>> base_36(1_700_000_000_000_000)
    'GQLL7VATQ8'
    """
    text = ""
    while number:
        number, rest = divmod(number, 36)
        text = _DIGITS[rest] + text
    return text or "0"


def _incompatible(why: str) -> HttprFault:
    return fault(ErrorNumber.INCOMPATIBLE, why)
