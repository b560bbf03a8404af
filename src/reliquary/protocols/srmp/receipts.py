"""What a sender is told later, [MC-MQSRM] 3.1.6.3 and 3.1.7.3."""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.protocols.srmp.state import State
from reliquary.queueing.travel.transfer import ReceiptDue

COALESCING: Final = "srmp-coalescing"
"""Stream Receipt Coalescing Timer, one for each place of a stream that comes in."""


def on_receipt_due(state: State, signal: ReceiptDue, now: Instant) -> None:
    """A message left its queue."""
    del state, signal, now


def on_coalescing(state: State, place: int, now: Instant) -> None:
    """It is time for a stream receipt."""
    del state, place, now
