"""Large bodies: in pieces on disk while they come, and as long as their message lives."""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.queueing.state import State
from reliquary.queueing.travel.transfer import BodiesUnwanted


def on_unwanted(state: State, signal: BodiesUnwanted, now: Instant) -> None:
    """Bodies that came belong to no message."""
