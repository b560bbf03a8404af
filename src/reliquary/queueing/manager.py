"""Implements the queue manager as a machine: one table maps each event to its processing rule.

Modules:

    root       manager     takes each event and signal to its rule, and ends the turn
               features    the list of features, and their tables joined
               requests    checks a request, calls its rule, sends the answer
               startup, initialization, lifecycle    start and stop; queues are created, changed, deleted
               recovery    builds the state from the rows
    features   directory feed history packets security staging travel
               each folder registers rules, timers, permits and appliers in its feature.py;
               none imports another, but for the two imports that the contract lists with their reasons
    rules      the processing rules: enqueue, read, transactions, expiry, destinations ...
    changes    the changes that facts make in memory and in the rows, and their history events
    model      values, names, tables, order, state: data without rules
"""

from __future__ import annotations

from typing import Any, Final

from reliquary.base.chance import Chance
from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.rows import Rows
from reliquary.base.time import Instant
from reliquary.base.turn import Event, Signal, TimerFired, Turn
from reliquary.queueing import features
from reliquary.queueing.changes.counters import settle
from reliquary.queueing.feed import trimming
from reliquary.queueing.model.events import Answer, Request
from reliquary.queueing.model.history.notes import API, Initiator
from reliquary.queueing.model.names.formats import IllegalFormatName
from reliquary.queueing.model.queue import ManagerState
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.state import Sizes, State
from reliquary.queueing.model.travel import asking
from reliquary.queueing.model.travel.carriers import Carriers
from reliquary.queueing.recovery import recover
from reliquary.queueing.rules.losses import warn
from reliquary.queueing.rules.news import send_news
from reliquary.queueing.rules.read import serve
from reliquary.queueing.travel import dispatch, listeners, remote, rooms

_READY: Final = ManagerState.READY


class QueueManager:  # DM-001
    """The queue manager of [MS-MQDMPR] as a machine, whose state is built from the rows."""

    def __init__(
        self,
        rows: Rows,
        chance: Chance,
        *,
        subscribed: frozenset[type] = frozenset(),
        carriers: Carriers | None = None,
        sizes: Sizes = Sizes(),  # noqa: B008 - it is frozen
        history: bool = False,
    ) -> None:
        """`subscribed` are the undirected signals that other machines take; `history` records events."""
        self.state = State(
            rows, chance, subscribed=subscribed, carriers=carriers, sizes=sizes, hooks=features.HOOKS
        )
        recover(self.state, history=history)

    def handle(self, event: Event, now: Instant) -> Turn:
        """Take one event, and return its turn."""
        state = self.state
        if state.history is not None and now != state.history.notes.moment:
            state.history.notes.at(now)
        if state.manager.state is not _READY and not _is_ready(state, event):
            return state.draft.take()
        if state.names.ways_of_turn:
            state.names.ways_of_turn = {}
        _take(state, event, now)
        self._finish(now)
        if state.travel.to_dispatch:
            dispatch.run(state, now)
            self._finish(now)  # messages that were to be sent may have expired
            if state.travel.to_dispatch:
                dispatch.ask_for_dispatch(state)
        return state.draft.take()

    def _finish(self, now: Instant) -> None:
        """End a turn: send acknowledgements and reports, and give messages to readers that wait."""
        state = self.state
        while state.turn.woken or state.turn.owed:
            send_news(state, now)
            serve(state, now)
        if state.turn.overfull:
            trimming.empty_overfull(state, now)
        if state.turn.losses:
            warn(state)
        if state.travel.listeners_changed:
            listeners.report(state)
        if state.travel.rooms.changed or state.travel.rooms.stale:
            rooms.report(state)

    def on_signal(self, signal: Signal, now: Instant) -> Turn:
        """Take a signal of a carrier, inside a turn of the carrier or of the manager."""
        state = self.state
        if state.history is not None:
            state.history.notes.at(now)
        _SIGNAL_RULES[type(signal)](state, signal, now)
        self._finish(now)
        if state.travel.to_dispatch:
            dispatch.ask_for_dispatch(state)
        return state.draft.take()

    def settle(self) -> None:
        """Stage the rows that are written once a batch."""
        settle(self.state)


def _is_ready(state: State, event: Event) -> bool:
    """Return whether a manager that is not ready takes this event; if not, the caller is answered."""
    if type(event) in features.AT_ANY_TIME:
        return True
    why = f"the queue manager is {state.manager.state.value}"
    if state.manager.state is ManagerState.INITIALIZING:
        why += f" and waits for the outcome of {len(state.transactions.open)} transactions"
    state.reply(getattr(event, "to", 0), Answer(HResult.SERVICE_NOT_AVAILABLE, why))
    return False


def _take(state: State, event: Any, now: Instant, *, reads_elsewhere: bool = True) -> None:
    """Check whether an event is allowed, and pass it to its rule or to the reader of another
    manager's queue."""
    state.turn.by = getattr(event, "by", MANAGER)
    try:
        why = "" if state.turn.by is MANAGER else features.PERMITS[type(event)](state, event)
        if why:
            state.reply(getattr(event, "to", 0), Answer(HResult.ACCESS_DENIED, why))
            return
        if reads_elsewhere and type(event) in remote.TAKES and remote.hand_over(state, event):
            return
        _RULES[type(event)](state, event, now)  # DM-284, DM-298
    except UsageError as wrong:
        assert not state.draft.has_facts, f"{type(event).__name__} was refused half-way: {wrong}"
        state.draft.take()
        illegal = isinstance(wrong, IllegalFormatName)
        status = HResult.ILLEGAL_FORMATNAME if illegal else HResult.INVALID_PARAMETER
        state.reply(getattr(event, "to", 0), Answer(status, str(wrong)))


def _on_request(state: State, signal: asking.RequestMade, now: Instant) -> None:
    """Take a request that a protocol makes for one of its clients."""
    request, asker = signal.request, Initiator(signal.machine, signal.peer)
    if isinstance(request, Request):
        caller = getattr(request, "to", 0)
        assert caller < 0, f"the callers of protocols have negative numbers, not {caller}"
        assert caller not in state.open.askers, f"caller {caller} of {signal.machine} asks twice"
        state.open.askers[caller] = asker
    if state.manager.state is not ManagerState.READY and not _is_ready(state, request):
        return
    state.turn.initiator = asker
    _take(state, request, now, reads_elsewhere=False)
    state.turn.initiator = API


def _on_timer(state: State, fired: TimerFired, now: Instant) -> None:
    """Call the rule of a timer that fired."""
    kind, number = fired.name
    assert kind in features.TIMERS, f"a timer of an unknown kind fired: {kind}"
    features.TIMERS[kind](state, number, now)


_RULES: Final = features.RULES | {TimerFired: _on_timer}
_SIGNAL_RULES: Final = features.SIGNAL_RULES | {asking.RequestMade: _on_request}

SIGNALS: Final = tuple(_SIGNAL_RULES)
"""The signals of other machines that the queue manager takes."""
TAKES: Final = tuple(features.RULES)
TIMERS: Final = tuple(features.TIMERS)
