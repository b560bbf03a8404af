"""Numbers that are missing for good: a gap in a stream is closed when nothing can fill it.

A receiver waits for the numbers before a gap, because their sender sends them again.  After a restore from a
backup that may never happen: they were taken and confirmed after the backup, and went with the old store.

    kept     . . . 20 |                        the backup
    sender             21 ... 39 |             confirmed, so it sends them no more
                                  40 41 42     40 comes, and nothing below it: the stream goes on

Its sender sends again from the lowest number that has no receipt.  A sender of ours says which number that is
(`first`).  Of another sender it is the lowest number that was seen, when that one came in several rounds: a
network that repeats a request, and loses the one before it, looks like a round and is none.  The numbers that
are passed over are remembered: one of them that comes after all is no repeat, and nobody knows whether it was
taken before.
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
"""By how much the clock of a sender may be ahead of ours: its streams have its time in their numbers."""
MOST_WATCHED: Final = 1000
"""Streams with a gap that are watched at a time; the oldest one is forgotten for another."""
ENOUGH: Final = 3
"""In how many rounds the lowest number comes before the gap is closed."""
ROUNDS_APART: Final = 20 * SECOND
"""What comes again sooner belongs to one round: senders wait 30 seconds for a receipt (SR-158)."""


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
    """The verdict on message `current`, with regard to restored stores and to what an administrator wants.

    `first` where its sender says that no number before it is to come.
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
    gap = _see(state, key, stream, current, previous, now)
    if verdict is Verdict.OUT_OF_ORDER and current == gap.lowest and (first or gap.rounds >= ENOUGH):
        return Verdict.RESUMED
    return verdict


def _is_restored(state: StreamState, kept: IncomingStream | None, stream: int) -> bool:
    """Whether messages of this stream may have been taken that the store has forgotten."""
    if kept is not None and kept.number == stream:
        return kept.restored
    restored = state.ordinals.restored
    return restored > 0 and stream >> 32 <= (restored + CLOCKS_DIFFER) // SECOND


def _see(state: StreamState, key: StreamKey, stream: int, current: int, previous: int, now: Instant) -> Gap:
    """Note that this number came, whether or not it is taken.

    The lowest number so far is gone if one that came after it names an even lower one as its previous.
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
