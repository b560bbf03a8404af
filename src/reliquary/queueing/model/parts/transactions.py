"""Keeps the transactions of this manager, and the outcomes of the last prepared ones."""

from __future__ import annotations

from dataclasses import dataclass, field
from uuid import UUID

from reliquary.base.time import Duration
from reliquary.queueing.model.events import FOREVER_WAIT
from reliquary.queueing.model.message import Message
from reliquary.queueing.model.tables import Operation, Outcome


@dataclass(slots=True)
class Transaction:
    """A transaction of this manager, 3.1.1.14."""

    identifier: UUID
    timer: int
    timeout: Duration = FOREVER_WAIT
    user: str = ""
    """The SID of the user who began it; empty when the manager did."""
    operations: list[Operation] = field(default_factory=list)
    messages: dict[int, Message] = field(default_factory=dict)
    """The messages that it sends, by number; on disk from prepare or commit on."""
    size: int = 0
    prepared: bool = False
    single_phase: bool = True
    external: bool = False
    """An external coordinator gave it its identifier, and decides its outcome (AN-30)."""
    owner: str = ""
    """The application that will look for it after a crash."""
    begun: int = 0
    """The moment when it was begun, microseconds since 1970."""
    prepared_at: int = 0
    undone: str = ""
    """The reason why its operations were undone, so that it can no longer commit; else empty."""


@dataclass(slots=True)
class Transactions:
    """Transactions and outcomes.

    Written by: changes.transactions, rules.transactions, recovery.
    """

    open: dict[UUID, Transaction] = field(default_factory=dict)
    """The transactions that have not ended."""
    outcomes: dict[UUID, Outcome] = field(default_factory=dict)
    """The outcomes of the last prepared transactions, the oldest first."""
