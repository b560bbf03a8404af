"""A message goes, [MC-MQSRM] 3.1.7."""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.protocols.srmp.codec.values import Envelope
from reliquary.protocols.srmp.events import Addressed, PostEnded
from reliquary.protocols.srmp.state import State
from reliquary.queueing.travel.transfer import (
    ConnectionWanted,
    ManagerOnline,
    MessageWithdrawn,
    QueuePaused,
    QueueResumed,
    SendUserMessage,
)

RECEIPT_WAIT: Final = "srmp-receipt-wait"
"""Stream Receipt Wait Timer, one for each outgoing queue."""
SESSION_CLEANUP: Final = "srmp-session-cleanup"
"""Session Cleanup Timer, one for each outgoing queue."""


def on_addressed(state: State, event: Addressed, now: Instant) -> None:
    """The server listens."""
    del now
    state.receipts_host = event.receipts_host
    state.authorities = event.authorities


def on_connection_wanted(state: State, signal: ConnectionWanted, now: Instant) -> None:
    """A message waits."""
    del state, signal, now


def on_send(state: State, signal: SendUserMessage, now: Instant) -> None:
    """Send User Message."""
    del state, signal, now


def on_post_ended(state: State, event: PostEnded, now: Instant) -> None:
    """A POST has its answer, or none."""
    del state, event, now


def on_stream_receipt(state: State, envelope: Envelope, now: Instant) -> None:
    """The receiver has messages of a stream."""
    del state, envelope, now


def on_final_receipt(state: State, envelope: Envelope, now: Instant) -> None:
    """The receiver tells what became of a message of a stream."""
    del state, envelope, now


def on_withdrawn(state: State, signal: MessageWithdrawn, now: Instant) -> None:
    """Messages left by themselves."""
    del state, signal, now


def on_paused(state: State, signal: QueuePaused, now: Instant) -> None:
    """Pause Queue."""
    del state, signal, now


def on_resumed(state: State, signal: QueueResumed, now: Instant) -> None:
    """Resume Queue."""
    del state, signal, now


def on_online(state: State, signal: ManagerOnline, now: Instant) -> None:
    """The manager goes offline or comes online."""
    del state, signal, now


def on_receipt_wait(state: State, queue: int, now: Instant) -> None:
    """No receipt came in time."""
    del state, queue, now


def on_session_cleanup(state: State, queue: int, now: Instant) -> None:
    """Nothing was sent for a while."""
    del state, queue, now
