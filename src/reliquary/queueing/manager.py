"""The queue manager as a machine: each event goes to its processing rule, all by one table."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from reliquary.base.chance import Chance
from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.rows import Rows
from reliquary.base.time import Instant
from reliquary.base.turn import Event, Signal, TimerFired, Turn
from reliquary.queueing import requests
from reliquary.queueing.changes.apply import settle
from reliquary.queueing.directory.rules import RULES as DIRECTORY_RULES
from reliquary.queueing.feed.events import TrimFeed
from reliquary.queueing.feed.rules import RULES as FEED_RULES
from reliquary.queueing.history import keeping
from reliquary.queueing.history.events import ForgetHistory, ResumeHistory
from reliquary.queueing.model import events
from reliquary.queueing.model.events import Answer, Request
from reliquary.queueing.model.history.notes import API, Bringer
from reliquary.queueing.model.names.formats import IllegalFormatName
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.state import Sizes, State
from reliquary.queueing.model.travel import asking, transfer
from reliquary.queueing.model.travel.carriers import Carriers
from reliquary.queueing.recovery import recover
from reliquary.queueing.rules import coordinator, spool
from reliquary.queueing.rules.losses import warn
from reliquary.queueing.rules.news import send_news
from reliquary.queueing.rules.read import serve
from reliquary.queueing.security.permits import refusal
from reliquary.queueing.staging.events import SweepStages
from reliquary.queueing.staging.rules import RULES as STAGING_RULES
from reliquary.queueing.travel import arrivals, dispatch, holds, listeners, remote, rooms, steering


class QueueManager:
    """[MS-MQDMPR] as a machine.  Its state is rebuilt from the rows it is given."""

    def __init__(
        self,
        rows: Rows,
        chance: Chance,
        *,
        heard: frozenset[type] = frozenset(),
        carriers: Carriers | None = None,
        sizes: Sizes = Sizes(),  # noqa: B008 - it is frozen
        history: bool = False,
    ) -> None:
        """`heard` are undirected signals that another machine hears; with `history`, facts are recorded."""
        self.state = State(rows, chance, heard=heard, carriers=carriers, sizes=sizes)
        recover(self.state, history=history)

    def handle(self, event: Event, now: Instant) -> Turn:
        """Take one event."""
        state = self.state
        if state.history is not None:
            state.history.notes.at(now)
        if state.manager_state is not ManagerState.READY and not _is_ready(state, event):
            return state.draft.take()
        if state.ways_of_turn:
            state.ways_of_turn = {}
        _take(state, event, now)
        self._finish(now)
        if state.stirred:
            dispatch.run(state, now)
            self._finish(now)  # what was to be sent may have expired
            if state.stirred:
                dispatch.go_on_later(state)
        return state.draft.take()

    def _finish(self, now: Instant) -> None:
        """What a turn owes to others: news to those who asked for it, messages to those who wait."""
        state = self.state
        while state.woken or state.owed:
            send_news(state, now)
            serve(state, now)
        if state.losses:
            warn(state)
        if state.listeners_changed:
            listeners.tell(state)
        if state.rooms.changed or state.rooms.stale:
            rooms.tell(state)

    def hear(self, signal: Signal, now: Instant) -> Turn:
        """Take what a carrier of messages says, inside its turn or one of ours."""
        state = self.state
        if state.history is not None:
            state.history.notes.at(now)
        _HEARD[type(signal)](state, signal, now)
        self._finish(now)
        if state.stirred:
            dispatch.go_on_later(state)
        return state.draft.take()

    def settle(self) -> None:
        """Stage what is kept once a batch."""
        settle(self.state)


def _is_ready(state: State, event: Event) -> bool:
    """Whether a manager that is not ready takes this event; who asks is answered if not."""
    if type(event) in AT_ANY_TIME:
        return True
    why = f"the queue manager is {state.manager_state.value}"
    if state.manager_state is ManagerState.INITIALIZING:
        why += f" and waits for the outcome of {len(state.transactions)} transactions"
    state.reply(getattr(event, "to", 0), Answer(HResult.SERVICE_NOT_AVAILABLE, why))
    return False


def _take(state: State, event: Any, now: Instant, *, reads_elsewhere: bool = True) -> None:
    """Check whether an event is allowed, and take it to its rule or to the reader of a queue elsewhere."""
    state.by = event.by if isinstance(event, Request) else MANAGER
    try:
        why = "" if state.by is MANAGER else refusal(state, event)
        if why:
            state.reply(getattr(event, "to", 0), Answer(HResult.ACCESS_DENIED, why))
            return
        if reads_elsewhere and type(event) in remote.TAKES and remote.hand_over(state, event):
            return
        _RULES[type(event)](state, event, now)
    except UsageError as wrong:
        assert not state.draft.has_facts, f"{type(event).__name__} was refused half-way: {wrong}"
        state.draft.take()
        illegal = isinstance(wrong, IllegalFormatName)
        status = HResult.ILLEGAL_FORMATNAME if illegal else HResult.INVALID_PARAMETER
        state.reply(getattr(event, "to", 0), Answer(status, str(wrong)))


def _on_request(state: State, signal: asking.RequestMade, now: Instant) -> None:
    """Take what a protocol asks for one of its clients."""
    request, asker = signal.request, Bringer(signal.machine, signal.peer)
    if isinstance(request, Request):
        caller = getattr(request, "to", 0)
        assert caller < 0, f"the callers of protocols have negative numbers, not {caller}"
        assert caller not in state.askers, f"caller {caller} of {signal.machine} asks twice"
        state.askers[caller] = asker
    if state.manager_state is not ManagerState.READY and not _is_ready(state, request):
        return
    state.bringer = asker
    _take(state, request, now, reads_elsewhere=False)
    state.bringer = API


AT_ANY_TIME: Final = frozenset[type[Event]](
    {
        events.StartManager,
        events.StopManager,
        events.EmptyQueue,
        TrimFeed,
        events.DispatchMessages,
        SweepStages,
        events.FlowControl,
        events.CallerGone,
        events.AwaitDisk,
        events.DropSpool,
        events.CommitTransaction,
        events.AbortTransaction,
        events.DtcCommit,
        events.DtcAbort,
        events.DtcReenlistmentCommit,
        events.DtcReenlistmentAbort,
        events.DtcReenlistmentTimeout,
        ForgetHistory,
        ResumeHistory,
        TimerFired,
    }
)
"""What is taken before the manager is ready, and while it stops: outcomes, and its own affairs."""


Rule = Callable[[State, Any, Instant], None]

_RULES: Final[dict[type[Event], Rule]] = {
    events.StartManager: requests.start,
    events.StopManager: requests.stop,
    events.PrepareTransaction: requests.prepare,
    events.CommitTransaction: requests.commit,
    events.AbortTransaction: requests.abort,
    events.DtcPrepare: coordinator.on_prepare,
    events.DtcCommit: coordinator.on_commit,
    events.DtcAbort: coordinator.on_abort,
    events.DtcReenlistmentCommit: coordinator.on_reenlistment_commit,
    events.DtcReenlistmentAbort: coordinator.on_reenlistment_abort,
    events.DtcReenlistmentTimeout: coordinator.on_reenlistment_timeout,
    events.TakeOffline: steering.take_offline,
    events.BringOnline: steering.bring_online,
    events.PauseQueue: steering.pause,
    events.ResumeQueue: steering.resume,
    events.OpenCursor: requests.open_cursor,
    events.CloseCursor: requests.close_cursor,
    events.CreateQueue: requests.create_queue,
    events.ChangeQueue: requests.change_queue,
    events.ChangeAccess: requests.change_access,
    events.DeleteQueue: requests.delete_queue,
    events.OpenQueue: requests.open_queue,
    events.CloseQueue: requests.close_queue,
    events.PurgeQueue: requests.purge_queue,
    events.BeginTransaction: requests.begin,
    events.SendMessages: requests.send,
    events.ReceiveMessages: requests.receive,
    events.EndRead: requests.end_read,
    events.LookUpMessage: requests.look_up,
    events.PeekMessage: requests.peek,
    events.BrowseMessages: requests.browse,
    events.MoveMessage: requests.move,
    events.CancelRead: requests.cancel,
    events.CallerGone: requests.caller_gone,
    **DIRECTORY_RULES,
    **FEED_RULES,
    **STAGING_RULES,
    events.GetQueuePath: requests.get_queue_path,
    events.StorePiece: spool.store_piece,
    events.DropSpool: spool.drop_spool,
    events.FlowControl: requests.flow_control,
    events.AwaitDisk: requests.await_disk,
    events.EmptyQueue: requests.empty,
    events.DispatchMessages: dispatch.go_on,
    ForgetHistory: keeping.forget,
    ResumeHistory: keeping.resume,
    TimerFired: requests.timer,
}

_HEARD: Final[dict[type[Signal], Rule]] = {
    transfer.ConnectionChanged: dispatch.on_connection_changed,
    transfer.TransferProgressed: dispatch.on_progress,
    transfer.TransferAccepted: dispatch.on_transfer_accepted,
    transfer.DestinationReached: dispatch.on_destination_reached,
    transfer.TransferEnded: dispatch.on_transfer_ended,
    transfer.ResendWanted: dispatch.on_resend_wanted,
    transfer.MessageArrived: arrivals.on_arrival,
    transfer.AddressesKnown: steering.on_addresses_known,
    transfer.QueuesWatched: holds.on_watched,
    transfer.RoomWatched: rooms.on_watched,
    transfer.HoldWanted: holds.on_hold_wanted,
    transfer.HoldsEnded: holds.on_holds_ended,
    transfer.BatchArrived: arrivals.on_batch,
    transfer.DuplicatesDropped: arrivals.on_duplicates,
    transfer.StreamResumed: arrivals.on_resumed,
    transfer.BodiesUnwanted: spool.on_unwanted,
    remote.RemoteReadsEnded: remote.on_reads_ended,
    asking.RequestMade: _on_request,
}
HEARS: Final = tuple(_HEARD)
"""The signals of other machines that the queue manager takes."""
TAKES: Final = tuple(each for each in _RULES if each is not TimerFired)
TIMERS: Final = tuple(requests.TIMERS)
