"""Marks all streams when the store was restored from a backup (`queueing.rules.era`).

    sender      Numbers up to `last` were given before the backup; later numbers may have been given after it.
                So the stream is closed: its messages are sent again with their numbers, and none is added.
    receiver    Numbers up to `last` came before the backup; later numbers may have come and been confirmed.
                So the stream is marked, and goes on after a gap that nothing can fill (`gaps`).

Both marks are on disk with the era, so they are known after a restart.
"""

from __future__ import annotations

from msgspec.structs import replace

from reliquary.base.time import Instant
from reliquary.streams.apply import apply
from reliquary.streams.facts import StoreRestored, StreamAdvanced, StreamClosed
from reliquary.streams.state import StreamState


def begin_era(state: StreamState, moment: Instant) -> None:
    """Close all outgoing streams and mark all incoming ones, because the store was restored at `moment`."""
    apply(state, StoreRestored(moment))
    for queue in state.sent:
        apply(state, StreamClosed(queue))
    for incoming in state.places:
        apply(state, StreamAdvanced(*incoming.key, replace(incoming.stream, restored=True)))
