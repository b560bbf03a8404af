"""Create, pause, resume and remove outgoing queues: OutgoingQueue, [MS-MQDMPR] 3.1.1.3.

Messages to other managers wait in outgoing queues.  The first message to a destination creates its queue.
A timer checks all outgoing queues every hour; a queue that is idle at two checks in a row, and was not used
between them, is removed.
"""

from __future__ import annotations

from typing import Final

import msgspec

from reliquary.base.chance import new_guid
from reliquary.base.time import HOUR, Duration, Instant, in_whole_seconds
from reliquary.base.turn import SetTimer
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.names.formats import (
    ConnectorName,
    DirectName,
    FormatType,
    PublicName,
    SingleName,
    parse_single,
)
from reliquary.queueing.model.queue import ManagerState, Outgoing, Queue, QueueSettings, QueueType
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.travel.link import Link, OutgoingEvent, OutgoingState
from reliquary.queueing.model.travel.transfer import QueuePaused, QueueResumed

LOOK: Final = ("idle", 0)
"""The timer of the check for idle queues; it runs while there are outgoing queues."""
IDLE_INTERVAL: Final = Duration(HOUR)
"""Time from one check for idle queues to the next."""
AT_REST: Final = frozenset({OutgoingState.INACTIVE, OutgoingState.DISCONNECTED})
"""States in which a queue may be removed: in others a carrier is at work, or it is paused or locked."""


def create_outgoing(state: State, name: SingleName, now: Instant, *, base_priority: int = 0) -> QueueState:
    """Create the outgoing queue of a destination that has none yet (Open Queue, 3.1.7.1.5, DM-171)."""
    # DEPARTS from 3.1.7.1.5 (AN-17): it is one of the manager's queues and has the defaults of all
    # queues, because otherwise it could not be found and half of its attributes had no value.
    number, moment, destination = state.numbers.next_queue(), in_whole_seconds(now), str(name)
    record = Queue(
        number=number,
        identifier=new_guid(state.chance),
        pathname=destination,
        qualified_pathname=destination,
        kind=_kind(name),
        settings=QueueSettings(label=destination, base_priority=base_priority),
        create_time=moment,
        modify_time=moment,
        outgoing=Outgoing(
            destination=destination,
            multicast=name.kind is FormatType.MULTICAST,  # DM-174
            locked=_hardened(state, name),  # DM-173
            carrier=carrier_mark(state, name),
        ),
    )
    if not state.names.outgoing:
        state.draft.ask(SetTimer(LOOK, IDLE_INTERVAL))
    apply(state, facts.QueueCreated(record))
    return state.queues[number]


def carrier_mark(state: State, name: SingleName) -> str:
    """Return the name of the carrier of a destination if it holds a backlog (`backlog`), else ''."""
    carrier = state.travel.carriers.of(name)
    return carrier.name if carrier is not None and carrier.holds_backlog else ""


def _hardened(state: State, name: SingleName) -> bool:
    """Return whether hardened security forbids to send to this destination (DM-031)."""
    by_http = isinstance(name, DirectName) and name.scheme.is_url  # every URL scheme goes over HTTP
    return state.identity().hardened_security and not by_http


def _kind(name: SingleName) -> QueueType:
    """Return the QueueType for a name; a queue that is not in the directory is private (DM-027)."""
    match name:
        case PublicName():
            return QueueType.PUBLIC
        case ConnectorName():
            return QueueType.CONNECTOR
        case _:
            return QueueType.PRIVATE


def destination_of(queue: QueueState) -> SingleName:
    """Return the destination of an outgoing queue (DestinationFormatName)."""
    assert queue.record.outgoing is not None, f"{queue.record.pathname} is no outgoing queue"
    return parse_single(queue.record.outgoing.destination)


def link_of(queue: QueueState) -> Link:
    """Return the link of an outgoing queue: its state and its carrier."""
    assert queue.link is not None, f"{queue.record.pathname} is no outgoing queue"
    return queue.link


# -- paused and locked, which survive a restart


def pause(state: State, queue: QueueState) -> None:
    """Stop sending from a queue; messages that are under way still arrive (Pause Queue, DM-292)."""
    link_of(queue).happen(OutgoingEvent.PAUSED)
    _store_attributes(state, queue, on_hold=True)
    carrier = link_of(queue).carrier
    if carrier is not None:
        state.draft.signal(QueuePaused(carrier.name, queue.number))


def resume(state: State, queue: QueueState) -> None:
    """Send again from a paused queue; one that is locked by security stays locked (Resume Queue, DM-293)."""
    link_of(queue).happen(OutgoingEvent.RESUMED)
    _store_attributes(state, queue, on_hold=False)
    if queue.record.outgoing is not None and queue.record.outgoing.locked:
        link_of(queue).happen(OutgoingEvent.HARDENED)
    carrier = link_of(queue).carrier
    if carrier is not None:
        state.draft.signal(QueueResumed(carrier.name, queue.number))


def harden(state: State) -> None:
    """Lock or unlock outgoing queues at a start, as hardened security may have changed (3.1.3, DM-095)."""
    for queue in list(state.names.outgoing.values()):
        outgoing = queue.record.outgoing
        assert outgoing is not None
        locked = _hardened(state, destination_of(queue))
        if outgoing.locked and not locked:
            link_of(queue).happen(OutgoingEvent.UNHARDENED)
        elif locked:
            link_of(queue).happen(OutgoingEvent.HARDENED)
        _store_attributes(state, queue, locked=locked)


def _store_attributes(state: State, queue: QueueState, **changes: bool) -> None:
    """Store changed attributes of an outgoing queue, so that they survive a restart (AN-49)."""
    before = queue.record.outgoing
    assert before is not None
    after = msgspec.structs.replace(before, **changes)
    if after != before:
        apply(state, facts.QueueChanged(msgspec.structs.replace(queue.record, outgoing=after)))


# -- queues with something to dispatch


def dispatch_soon(state: State, queue: QueueState) -> None:
    """Dispatch messages of this queue at the end of the turn, if it has any."""
    if len(queue.order):
        state.travel.to_dispatch[queue.number] = queue


def dispatch_all(state: State) -> None:
    """Dispatch messages of every outgoing queue and of every watched queue at the end of the turn."""
    for queue in state.names.outgoing.values():
        dispatch_soon(state, queue)
    notify_carriers_again(state)


def notify_carriers_again(state: State) -> None:
    """Notify carriers that take batches once more: what waited may not have been available before."""
    for queue in state.names.outgoing.values():
        link_of(queue).notified = False
    for carrier, watched in state.travel.watched.items():
        for number in watched:
            state.travel.unnotified.setdefault(number, set()).add(carrier)
    for number in sorted(state.travel.unnotified.keys() & state.queues.keys()):
        dispatch_soon(state, state.queues[number])


# -- idle queues


def set_idle_timer(state: State) -> None:
    """Set the timer of the check for idle queues, if there are outgoing queues."""
    if state.names.outgoing:
        state.draft.ask(SetTimer(LOOK, IDLE_INTERVAL))


def on_look(state: State) -> None:
    """Remove queues that were idle at the last check and are idle now; a send creates them again."""
    if state.manager.state is not ManagerState.READY:
        return
    in_use = {
        number
        for transaction in state.transactions.open.values()
        for operation in transaction.operations
        for number in (operation.queue, operation.target)
    } | state.staging.awaited()
    for queue in list(state.names.outgoing.values()):
        link = link_of(queue)
        if queue.number in in_use or not is_idle(queue):
            link.unused = False
        elif link.unused:
            apply(state, facts.QueueDeleted(queue.number))
        else:
            link.unused = True
    set_idle_timer(state)


def is_idle(queue: QueueState) -> bool:
    """Return whether a queue can be removed without loss: no message, no handle, no changed setting."""
    link, record = link_of(queue), queue.record
    defaults = QueueSettings(label=record.pathname, base_priority=record.settings.base_priority)
    return (
        link.state in AT_REST
        and not queue.active
        and not (queue.counts.delayed or queue.delayed_express)
        and record.modify_time == record.create_time
        and record.settings == defaults
    )
