r"""Reads of queues that another manager has: they are handed to the protocol that can read there.

    application            manager                          remote reader (`carriers.RemoteReader`)
       | OpenQueue -----------> | ReadElsewhere ----------------> |   DIRECT=OS:far\private$\orders
       | <------------------------------------------ Reply(Opened) |   with the number it was given
       | ReceiveMessages -----> | ReadElsewhere ----------------> |
       | <---------------------------------------- Reply(Received) |   now or later
       | (goes away) ---------> | ReaderGone -------------------> |   nobody waits for the answer
       |                        | <------------- RemoteReadsEnded |   the connection broke: handles are closed

The reader answers the caller itself, keeps the lease of a handle, and ends the numbers of what it refuses to
open.  What it is handed is within its ranges (`checks`).  Where no reader claims the name, the rules of the
manager refuse the request, as they do without any reader.
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
from reliquary.queueing.model.security.anonymous import AnonymousAct, denied
from reliquary.queueing.model.state import RemoteHandle, State
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.checks import check_request


class ReadElsewhere(DirectedSignal, frozen=True):
    """An application asks for something that the queue of another manager has to do."""

    request: Request
    """Its `to` is the caller, whom the reader answers."""
    number: int = 0
    """The handle, cursor or receipt that the request opens, if it opens one."""


class ReaderGone(DirectedSignal, frozen=True):
    """A caller wants no more: the reader answers it with OPERATION_CANCELLED, or with what came before."""

    caller: int


class RemoteReadsEnded(Signal, frozen=True):
    """Handles, cursors and receipts of a reader name nothing any more."""

    numbers: tuple[int, ...]


class _Aspect(NamedTuple):
    """What a kind of request says about a queue elsewhere."""

    given: str
    """The attribute with the name of the queue, or with the number of a handle, cursor or receipt."""
    opens: Callable[[Any], bool] = lambda _: False
    """Whether the answer names something that later requests use."""
    closes: Callable[[Any], bool] = lambda _: False
    """Whether the number names nothing any more; of a receipt that is ended in part, the reader says so."""


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
"""The requests that a remote reader takes."""

TAKES: Final = frozenset((*ASPECTS, events.CallerGone))
"""The events that `hand_over` has to see."""

_ADDRESS: Final = "DIRECT="
"""How each name begins that a reader can claim."""


def hand_over(state: State, event: Event) -> bool:
    """Hand a request about another manager's queue to its reader; False where it is none of a reader's."""
    if isinstance(event, events.CallerGone):
        for each in state.carriers.readers:
            state.draft.tell(ReaderGone(each.name, event.caller))
        return False
    assert isinstance(event, Request), f"{event} is no request"
    aspect = ASPECTS[type(event)]
    given = getattr(event, aspect.given)
    if isinstance(given, int):
        known = state.remote_handles.get(given)
        if known is None:
            return False
        if known.by.user != event.by.user:
            why = f"what the request uses is another user's, and {event.by} may not use it"
            state.reply(getattr(event, "to", 0), Answer(HResult.ACCESS_DENIED, why))
            return True
        reader: str | None = known.reader
    else:
        is_address = given[: len(_ADDRESS)].upper() == _ADDRESS
        reader = _reader_by_name(state, event, given) if is_address else None
    if reader is None:
        return False
    if why := denied(state.anonymous_may, event.by, AnonymousAct.READ_ELSEWHERE):
        state.reply(getattr(event, "to", 0), Answer(HResult.ACCESS_DENIED, why))
        return True
    check_request(event)
    if isinstance(given, int) and aspect.closes(event):
        del state.remote_handles[given]
    number = 0
    if aspect.opens(event):
        number = state.next_handle()
        state.remote_handles[number] = RemoteHandle(reader, event.by)
    state.draft.tell(ReadElsewhere(reader, event, number))
    return True


def _reader_by_name(state: State, request: Request, text: str) -> str | None:
    """Return the reader of a queue by its address; a send, and a look into an outgoing queue, are ours."""
    access = request.access if isinstance(request, events.OpenQueue) else Access.RECEIVE
    if access is Access.SEND or access in destinations.ADMIN:
        return None
    name = destinations.read_name(state, text)
    if not isinstance(name, DirectName):
        return None
    reader = state.carriers.reader(name)
    if reader is None or (destinations.is_own_address(state, name) and not reader.own_addresses):
        return None
    return reader.name


def on_reads_ended(state: State, signal: RemoteReadsEnded, now: Instant) -> None:
    """Forget handles that their reader has closed."""
    del now
    for number in signal.numbers:
        state.remote_handles.pop(number, None)
