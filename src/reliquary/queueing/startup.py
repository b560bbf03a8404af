"""Starts and stops the queue manager: [MS-MQDMPR] 3.1.3, 3.1.4.1 and 3.1.4.2."""

from __future__ import annotations

from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import DAY, Duration, Instant
from reliquary.base.turn import CancelTimer, SetTimer
from reliquary.queueing.feed import trimming
from reliquary.queueing.initialization import initialize
from reliquary.queueing.lifecycle import empty_later
from reliquary.queueing.model.events import Answer, StartManager
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.names.pathnames import SYSTEM_QUEUES, Pathname
from reliquary.queueing.model.queue import ManagerState, QueueSettings, QueueType
from reliquary.queueing.model.state import State
from reliquary.queueing.model.waiting import WaitingReadEvent
from reliquary.queueing.rules import era, outgoing, spool
from reliquary.queueing.rules.creation import create_at
from reliquary.queueing.rules.expiry import watch_next
from reliquary.queueing.rules.handles import end_wait
from reliquary.queueing.rules.readiness import IN_DOUBT, ManagerEvent, advance, be_ready
from reliquary.queueing.rules.transactions import abort
from reliquary.queueing.staging import sweep, turns
from reliquary.queueing.travel import backlog

LONGEST_IN_DOUBT: Final = Duration(7 * DAY)


def start(state: State, request: StartManager, now: Instant) -> None:
    """Initialization, 3.1.3: name the manager, create the system queues, end unfinished transactions."""
    advance(state, ManagerEvent.STARTED)
    try:
        _initialize(state, request, now)  # DM-099
    except UsageError:
        advance(state, ManagerEvent.FAILED)  # DM-098
        raise
    state.access.first_list = request.first_list
    state.access.anonymous_may = request.anonymous_may
    state.manager.signs = request.signs
    state.forget_names()
    state.manager.starter = request.to
    if request.in_doubt_wait and state.transactions.open:
        state.draft.ask(SetTimer(IN_DOUBT, request.in_doubt_wait))  # DM-096
    else:
        be_ready(state)


def _initialize(state: State, request: StartManager, now: Instant) -> None:
    if not 0 <= request.in_doubt_wait <= LONGEST_IN_DOUBT:
        raise UsageError(
            f"the wait for outcomes is 0 to {LONGEST_IN_DOUBT} microseconds, not {request.in_doubt_wait}"
        )
    initialize(state, request, now)
    if request.restoration is not None:
        era.begin(state, request.restoration, now)
    state.numbers.reserve()
    for name in SYSTEM_QUEUES:
        if f"system$;{name}" not in state.names.by_path:  # AN-49: those of an earlier start are kept
            create_at(state, Pathname(QueueType.SYSTEM, name), QueueSettings(), now)  # DM-093, DM-094
    outgoing.harden(state)
    backlog.pause_backlogs(state)
    for transaction in list(state.transactions.open.values()):
        if transaction.single_phase or not transaction.prepared:
            abort(state, transaction, now)  # DM-097
    for queue in state.queues.values():
        if queue.record.deleting:
            empty_later(state, 0, queue, MessageClass.NACK_QUEUE_DELETED)
    trimming.resume(state)
    spool.drop(
        state, tuple(state.messages.bodies.loose)
    )  # of a process that ended before their messages came
    sweep.at_start(state, now)
    turns.at_start(state)
    watch_next(state, now)  # DM-081


def stop(state: State) -> None:
    """Queue Manager Stopped: answer readers that wait, and return reserved numbers."""
    before = state.manager.state
    advance(state, ManagerEvent.STOP)  # DM-100
    if before is ManagerState.STOPPED:
        return
    if before is ManagerState.INITIALIZING:
        state.draft.ask(CancelTimer(IN_DOUBT))
        state.reply(state.manager.starter, Answer(HResult.OPERATION_CANCELLED))
    for queue in state.queues.values():
        for waiter in list(queue.readers.waiting.values()):
            end_wait(state, queue, waiter, WaitingReadEvent.STOPPED)
    state.numbers.ceiling = state.numbers.sequence
    state.numbers.dirty = True
    advance(state, ManagerEvent.ALL_STOPPED)
