"""What an administrator decides about a stream that cannot go on (`reliquary.streams.resetting`)."""

from __future__ import annotations

from functools import partial

from reliquary.base.time import Instant
from reliquary.protocols.srmp.events import ResetStream
from reliquary.protocols.srmp.sender.closing import start_anew
from reliquary.protocols.srmp.state import State
from reliquary.streams.resetting import reset


def on_reset(state: State, event: ResetStream, now: Instant) -> None:
    """Reset a stream, or say that there is none of this name."""
    reset(state, event, now, partial(start_anew, state))
