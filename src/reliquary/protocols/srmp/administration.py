"""Resets a stream at the request of an administrator (`reliquary.streams.resetting` has the rules)."""

from __future__ import annotations

from functools import partial

from reliquary.base.time import Instant
from reliquary.protocols.srmp.events import ResetStream
from reliquary.protocols.srmp.sender.closing import start_anew
from reliquary.protocols.srmp.state import State
from reliquary.streams.resetting import reset


def on_reset(state: State, event: ResetStream, now: Instant) -> None:
    """Reset a stream, or report that no stream has this name."""
    reset(state, event, now, partial(start_anew, state))
