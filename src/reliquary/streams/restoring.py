"""What becomes of streams when the store was restored from a backup (`queueing.era`).

    sender      Numbers up to `last` were given before the backup; later ones may have been given since.
                So the stream is closed: its messages go again under their numbers, and no other gets one.
    receiver    Numbers up to `last` came before the backup; later ones may have come and been confirmed.
                So the stream is marked, and a gap in it does not last for ever (`gaps`).

Both marks are on disk with the era, so a restart remembers them.
"""

from __future__ import annotations

from msgspec.structs import replace

from reliquary.base.time import Instant
from reliquary.streams.apply import apply
from reliquary.streams.facts import StoreRestored, StreamAdvanced, StreamClosed
from reliquary.streams.state import StreamState


def begin_era(state: StreamState, moment: Instant) -> None:
    """Mark all streams: the store was restored, and an era begins at this moment."""
    apply(state, StoreRestored(moment))
    for queue in state.sent:
        apply(state, StreamClosed(queue))
    for incoming in state.places:
        apply(state, StreamAdvanced(*incoming.key, replace(incoming.stream, restored=True)))
