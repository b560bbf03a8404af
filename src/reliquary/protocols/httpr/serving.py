"""The server agent: requests of others, D.1 to D.6 of the digest, each by its command."""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.protocols.httpr.events import ConnectionGone, RequestArrived, RequestBegun
from reliquary.protocols.httpr.state import State
from reliquary.queueing.travel.transfer import BatchJudged, MessagesHeld, MessagesWaiting

IDLE_SESSION: Final = "httpr-idle"
"""The timer of a session, by its channel."""
BATCH_WAIT: Final = "httpr-batch"
"""The timer of a PULL that waits for messages, by its channel."""


def on_request_begun(state: State, event: RequestBegun, now: Instant) -> None:
    """The header is here: older connections of its channel end."""


def on_request(state: State, event: RequestArrived, now: Instant) -> None:
    """A request is whole."""


def on_connection_gone(state: State, event: ConnectionGone, now: Instant) -> None:
    """Nobody waits there any more."""


def on_judged(state: State, signal: BatchJudged, now: Instant) -> None:
    """The manager has taken a batch, or not."""


def on_held(state: State, signal: MessagesHeld, now: Instant) -> None:
    """The manager has given messages for a batch of ours, or has none."""


def on_waiting(state: State, signal: MessagesWaiting, now: Instant) -> None:
    """Messages wait that somebody may have asked for."""


def on_idle_session(state: State, channel: int, now: Instant) -> None:
    """A session was idle for long enough."""


def on_batch_wait(state: State, channel: int, now: Instant) -> None:
    """A PULL has waited long enough."""
