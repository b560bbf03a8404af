"""WaitingMessageReadOperation, [MS-MQDMPR] 3.1.1.10: a read that found nothing and waits."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from reliquary.queueing.events import PeekMessage, ReceiveMessages


@dataclass(frozen=True, slots=True)
class Waiter:
    """Who waits, for what.  It waits under a number that is also its timer's (DM-038)."""

    number: int
    request: ReceiveMessages | PeekMessage
    descriptor: int

    @property
    def destructive(self) -> bool:
        """DestructiveRead."""
        return isinstance(self.request, ReceiveMessages)

    @property
    def tag(self) -> int:
        """What the caller may cancel it by; 0 for none."""
        return self.request.tag if isinstance(self.request, ReceiveMessages) else 0

    @property
    def transaction(self) -> UUID | None:
        """The transaction it will receive in."""
        return self.request.transaction if isinstance(self.request, ReceiveMessages) else None
