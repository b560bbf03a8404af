"""Holds: a carrier takes a batch of messages that stay in their queue until it says what became of them."""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.queueing.state import State
from reliquary.queueing.travel.transfer import HoldsEnded, HoldWanted, QueuesWatched


def on_hold_wanted(state: State, signal: HoldWanted, now: Instant) -> None:
    """Hold some messages for a carrier."""


def on_holds_ended(state: State, signal: HoldsEnded, now: Instant) -> None:
    """Take held messages out, or give them back."""


def on_watched(state: State, signal: QueuesWatched, now: Instant) -> None:
    """Tell a carrier when messages wait in these queues."""
