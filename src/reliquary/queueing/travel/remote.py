r"""Passes requests that read a queue of another manager to the protocol that can read it.

    application            manager                          remote reader (`carriers.RemoteReader`)
       | OpenQueue -----------> | ReadElsewhere ----------------> |   DIRECT=OS:far\private$\orders
       | <------------------------------------------ Reply(Opened) |   with the handle's number
       | ReceiveMessages -----> | ReadElsewhere ----------------> |
       | <---------------------------------------- Reply(Received) |   now or later
       | (disconnects) -------> | ReaderGone -------------------> |   the caller waits no longer
       |                        | <------------- RemoteReadsEnded |   the connection broke: handles are closed

The reader answers the caller itself, keeps the lease of a handle, and ends the number of a handle that it
refuses to open.  The manager checks the ranges of a request before it hands it over (`checks`).  If no reader
claims the name, the rules of the manager refuse the request, as in a manager without readers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.base.turn import DirectedSignal, Event, Signal
from reliquary.queueing.model import events
from reliquary.queueing.model.events import Access, Answer, Request
from reliquary.queueing.model.names.formats import DirectName
from reliquary.queueing.model.parts.open_queues import RemoteHandle
from reliquary.queueing.model.security.anonymous import AnonymousAct, denied
from reliquary.queueing.model.state import State
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.checks import check_request


class ReadElsewhere(DirectedSignal, frozen=True):
    """An application sends a request about a queue of another manager."""

    request: Request
    """The request; its `to` is the caller that the reader answers."""
    number: int = 0
    """The number of the handle, cursor or receipt that the request opens; 0 if it opens none."""


class ReaderGone(DirectedSignal, frozen=True):
    """A caller disconnected: the reader answers OPERATION_CANCELLED to its requests that still wait."""

    caller: int


class RemoteReadsEnded(Signal, frozen=True):
    """Handles, cursors and receipts of a reader are closed: their numbers are not valid any more."""

    numbers: tuple[int, ...]


class _Aspect(NamedTuple):
    """The way in which a kind of request refers to a queue of another manager."""

    given: str
    """The attribute with the name of the queue, or with the number of a handle, cursor or receipt."""
    opens: Callable[[Any], bool] = lambda _: False
    """Whether the request opens a handle, cursor or receipt that later requests use."""
    closes: Callable[[Any], bool] = lambda _: False
    """Whether the request closes the handle, cursor or receipt; the reader reports it if only a part ends."""


ASPECTS: Final[Mapping[type[Event], _Aspect]] = {
    events.OpenQueue: _Aspect("path", opens=lambda _: True),
    events.CloseQueue: _Aspect("handle", closes=lambda _: True),
    events.OpenCursor: _Aspect("handle", opens=lambda _: True),
    events.CloseCursor: _Aspect("cursor", closes=lambda _: True),
    events.ReceiveMessages: _Aspect("queue", opens=lambda request: bool(request.hold)),
    events.LookUpMessage: _Aspect("queue", opens=lambda request: bool(request.hold)),
    events.EndRead: _Aspect("receipt", closes=lambda request: not request.lookup_ids),
    events.PeekMessage: _Aspect("queue"),
    events.BrowseMessages: _Aspect("queue"),
    events.PurgeQueue: _Aspect("path"),
    events.CancelRead: _Aspect("queue"),
}
"""The requests that a remote reader can answer."""

TAKES: Final = frozenset((*ASPECTS, events.CallerGone))
"""The events that `hand_over` has to check."""

_ADDRESS_PREFIX: Final = "DIRECT="
"""The beginning of each name that a reader can claim."""


def hand_over(state: State, event: Event) -> bool:
    """Pass a request about another manager's queue to its reader; return False if no reader answers it."""
    if isinstance(event, events.CallerGone):
        for each in state.travel.carriers.readers:
            state.draft.signal(ReaderGone(each.name, event.caller))
        return False
    assert isinstance(event, Request), f"{event} is no request"
    aspect = ASPECTS[type(event)]
    given = getattr(event, aspect.given)
    if isinstance(given, int):
        known = state.open.remote.get(given)
        if known is None:
            return False
        if known.by.user != event.by.user:
            why = f"what the request uses is another user's, and {event.by} may not use it"
            state.reply(getattr(event, "to", 0), Answer(HResult.ACCESS_DENIED, why))
            return True
        reader: str | None = known.reader
    else:
        is_address = given[: len(_ADDRESS_PREFIX)].upper() == _ADDRESS_PREFIX
        reader = _reader_by_name(state, event, given) if is_address else None
    if reader is None:
        return False
    if why := denied(state.access.anonymous_may, event.by, AnonymousAct.READ_ELSEWHERE):
        state.reply(getattr(event, "to", 0), Answer(HResult.ACCESS_DENIED, why))
        return True
    check_request(event)
    if isinstance(given, int) and aspect.closes(event):
        del state.open.remote[given]
    number = 0
    if aspect.opens(event):
        number = state.numbers.next_handle()
        state.open.remote[number] = RemoteHandle(reader, event.by)
    state.draft.signal(ReadElsewhere(reader, event, number))
    return True


def _reader_by_name(state: State, request: Request, text: str) -> str | None:
    """Return the name of the reader that claims an address; None if this manager answers the request.

    This manager answers a send, and a request of an administrator about an outgoing queue.
    """
    access = request.access if isinstance(request, events.OpenQueue) else Access.RECEIVE
    if access is Access.SEND or access in destinations.ADMIN:
        return None
    name = destinations.read_name(state, text)
    if not isinstance(name, DirectName):
        return None
    reader = state.travel.carriers.reader(name)
    if reader is None or (destinations.is_own_address(state, name) and not reader.own_addresses):
        return None
    return reader.name


def on_reads_ended(state: State, signal: RemoteReadsEnded, now: Instant) -> None:
    """Remove the handles, cursors and receipts that their reader has closed."""
    del now
    for number in signal.numbers:
        state.open.remote.pop(number, None)
