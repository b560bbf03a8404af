"""The client agent: channels of our own, B.3 and B.5 of the digest."""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.protocols.httpr.events import ForgetChannel, ReportChannel, RequestFailed, ResponseArrived
from reliquary.protocols.httpr.state import State
from reliquary.queueing.travel.transfer import (
    BatchJudged,
    ConnectionWanted,
    ManagerOnline,
    MessagesHeld,
    MessagesWaiting,
    QueueResumed,
)

RETRY: Final = "httpr-retry"
"""The timer of a channel that rests."""


def on_addressed(state: State, now: Instant) -> None:
    """We have a name: channels with something in doubt are resolved, peers that we fetch from are asked."""


def on_connection_wanted(state: State, signal: ConnectionWanted, now: Instant) -> None:
    """Messages wait for an agent for the first time."""


def on_waiting(state: State, signal: MessagesWaiting, now: Instant) -> None:
    """More messages wait."""


def on_held(state: State, signal: MessagesHeld, now: Instant) -> None:
    """The manager has given messages for a batch, or has none."""


def on_judged(state: State, signal: BatchJudged, now: Instant) -> None:
    """The manager has taken a batch that we fetched, or not."""


def on_response(state: State, event: ResponseArrived, now: Instant) -> None:
    """A response is whole."""


def on_failed(state: State, event: RequestFailed, now: Instant) -> None:
    """Responses will not come: what was asked is in doubt."""


def on_online(state: State, signal: ManagerOnline, now: Instant) -> None:
    """The manager may send, or may not."""


def on_resumed(state: State, signal: QueueResumed, now: Instant) -> None:
    """An outgoing queue may send again."""


def on_report_wanted(state: State, event: ReportChannel, now: Instant) -> None:
    """An administrator wants to know."""


def on_forget_wanted(state: State, event: ForgetChannel, now: Instant) -> None:
    """An administrator wants to forget."""


def on_retry(state: State, channel: int, now: Instant) -> None:
    """A channel has rested."""
