"""Decides when an incoming stream continues although numbers before a message are permanently missing.

A receiver waits for the missing numbers of a gap, because the sender sends them again.  After a restore from
a backup they may never come: they were taken and confirmed after the backup, and lost with the old store.

    kept     . . . 20 |                        the backup
    sender             21 ... 39 |             confirmed, so they are not sent again
                                  40 41 42     40 comes, and no lower number: the stream goes on

A sender sends again from the lowest number that has no receipt.  A sender that runs this program names that
number (`first`).  For other senders it is the lowest number that came, if it came in several rounds: one is
not enough, because a network can repeat a request and lose the one before it.  The numbers that are passed
over are stored: if one of them comes later, it is not known whether it was taken before the restore.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.ranges import NumberRanges
from reliquary.base.time import DAY, SECOND, Instant
from reliquary.streams.acceptance import TAKEN, Verdict
from reliquary.streams.incoming import Gap, StreamKey
from reliquary.streams.state import StreamState
from reliquary.streams.tables import IncomingStream

CLOCKS_DIFFER: Final = DAY
"""The largest time by which the clock of a sender may be ahead: the numbers of its streams contain
its time."""
MOST_WATCHED: Final = 1000
"""The number of streams with a gap that are watched; a new one replaces the oldest."""
ENOUGH: Final = 3
"""The number of rounds in which the lowest number must come before the stream continues."""
ROUNDS_APART: Final = 20 * SECOND
"""The shortest time between two rounds: senders wait 30 seconds for a receipt (SR-158)."""


def reconsider(
    state: StreamState,
    key: StreamKey,
    stream: int,
    current: int,
    previous: int,
    verdict: Verdict,
    now: Instant,
    *,
    first: bool = False,
) -> Verdict:
    """Return the verdict on message `current`, corrected for a restored store or a reset by an administrator.

    `first` is True if the sender says that it will send no lower number.
    """
    incoming = state.incoming.get(key)
    kept = None if incoming is None else incoming.stream
    if kept is not None and kept.reset:
        return verdict if verdict in TAKEN else Verdict.RESUMED
    if verdict is Verdict.REPEATED:
        assert kept is not None, "nothing is repeated in a stream that is not kept"
        return Verdict.LATE if current in NumberRanges(kept.skipped) else verdict
    if verdict is Verdict.OUTDATED or not _is_restored(state, kept, stream):
        return verdict
    gap = _record_number(state, key, stream, current, previous, now)
    if verdict is Verdict.OUT_OF_ORDER and current == gap.lowest and (first or gap.rounds >= ENOUGH):
        return Verdict.RESUMED
    return verdict


def _is_restored(state: StreamState, kept: IncomingStream | None, stream: int) -> bool:
    """Return whether messages of this stream may have been taken that the restored store does not have."""
    if kept is not None and kept.number == stream:
        return kept.restored
    restored = state.ordinals.restored
    return restored > 0 and stream >> 32 <= (restored + CLOCKS_DIFFER) // SECOND


def _record_number(
    state: StreamState, key: StreamKey, stream: int, current: int, previous: int, now: Instant
) -> Gap:
    """Record that this number came, also if it is not taken, and return the gap of its stream.

    If a higher number names a `previous` below the lowest number so far, the message with the lowest number
    has left its queue, and the gap is counted again from the number that came.
    """
    gap = state.gaps.get(key)
    if gap is None or gap.stream != stream or current < gap.lowest or previous < gap.lowest < current:
        state.gaps.pop(key, None)
        if len(state.gaps) >= MOST_WATCHED:
            del state.gaps[next(iter(state.gaps))]
        gap = state.gaps[key] = Gap(stream, current, now)
    elif current == gap.lowest and not 0 <= now - gap.seen < ROUNDS_APART:
        gap.rounds += 1
        gap.seen = now
    return gap
