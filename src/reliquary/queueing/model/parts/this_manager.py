"""Keeps the attributes and the state of this manager."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from reliquary.queueing.model.message import NO_GUID
from reliquary.queueing.model.queue import Era, ManagerState, QueueManagerRecord


@dataclass(slots=True)
class ThisManager:
    """LocalQueueManager and QueueManagerState.

    Written by: changes.queues, rules.readiness, startup, requests, recovery.
    """

    record: QueueManagerRecord | None = None
    """The attributes that are on disk; None before the first start."""
    lineage: UUID = NO_GUID
    """The GUID in the identifiers of new messages; as in the record."""
    era: Era | None = None
    """The era that a restore began; as in the record."""
    state: ManagerState = ManagerState.STOPPED
    starter: int = 0
    """The caller that is answered when the manager is ready, or cannot become ready."""
    throttled: bool = False
    """New messages are refused (DM-294, DM-295)."""
    throttled_why: str = ""
    signs: bool = False
    """Messages that leave by HTTP can be signed."""

    def know(self, record: QueueManagerRecord) -> None:
        """Set the record of LocalQueueManager; only `changes` and `recovery` call this."""
        self.record, self.lineage, self.era = record, record.lineage, record.era
