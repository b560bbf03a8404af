"""OutgoingQueue, [MS-MQDMPR] 3.1.1.3: where messages wait whose destination is elsewhere."""

from __future__ import annotations

from reliquary.base.chance import new_guid
from reliquary.base.time import Instant, in_whole_seconds
from reliquary.queueing import facts
from reliquary.queueing.apply import apply
from reliquary.queueing.formats import (
    ConnectorName,
    DirectName,
    FormatType,
    PublicName,
    SingleName,
)
from reliquary.queueing.queue import Outgoing, Queue, QueueSettings, QueueType
from reliquary.queueing.state import QueueState, State


def create_outgoing(state: State, name: SingleName, now: Instant, *, base_priority: int = 0) -> QueueState:
    """Open Queue, 3.1.7.1.5, for a destination that has no outgoing queue yet (DM-171)."""
    # DEPARTS from 3.1.7.1.5 (AN-17): it is one of the manager's queues and has the defaults of all
    # queues, because otherwise nobody would find it again and half its attributes had no value.
    number, moment, destination = state.next_number(), in_whole_seconds(now), str(name)
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
            locked=state.identity().hardened_security and not goes_by_http(name),  # DM-173
        ),
    )
    apply(state, facts.QueueCreated(record))
    return state.queues[number]


def goes_by_http(name: SingleName) -> bool:
    """Whether hardened security lets messages go there (DM-031)."""
    return isinstance(name, DirectName) and name.protocol.is_http


def _kind(name: SingleName) -> QueueType:
    """QueueType by the name; what is not in the directory is private (DM-027)."""
    match name:
        case PublicName():
            return QueueType.PUBLIC
        case ConnectorName():
            return QueueType.CONNECTOR
        case _:
            return QueueType.PRIVATE
