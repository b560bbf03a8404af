"""Continues streams after a restore, [MC-MQSRM] 2.2.5.3, if predecessors of a message will never come.

The rule is in `streams.gaps`.  SRMP adds one thing to it: only number 1 of a stream has the address for
receipts. So the address of a stream whose start is forgotten comes from elsewhere, or the stream cannot
go on.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.time import Instant
from reliquary.base.turn import Warn
from reliquary.protocols.srmp.codec.values import Envelope, StreamPosition
from reliquary.protocols.srmp.state import Count, State
from reliquary.protocols.srmp.tables import NAME
from reliquary.queueing.model.travel.transfer import StreamResumed
from reliquary.streams.acceptance import Verdict
from reliquary.streams.gaps import ENOUGH, reconsider
from reliquary.streams.incoming import StreamKey
from reliquary.streams.tables import IncomingStream

RESUMED: Final = "a stream goes on without some of its numbers"
NO_ADDRESS: Final = "a stream cannot go on after the restore"


def reconsidered(
    state: State, key: StreamKey, place: StreamPosition, verdict: Verdict, now: Instant
) -> Verdict:
    """Return the verdict on a message, if the store was restored or an administrator has reset the stream."""
    # DEPARTS from 2.2.5.3 (SR-070): a message is taken before its predecessor if that one will never come,
    # because its sender has a receipt for it and the store with it is lost: the stream would stop.
    found = reconsider(
        state,
        key,
        place.number,
        place.current,
        place.previous,
        verdict,
        now,
        first=bool(place.unconfirmed_to),
    )
    if found is not Verdict.RESUMED or receipts_to(state, key, place):
        return found
    gap = state.gaps.get(key)
    if gap is not None and gap.rounds == ENOUGH:
        why = f"where receipts for {place.identifier} go is not known; reset the stream at its sender"
        state.draft.ask(Warn(key[1], NO_ADDRESS, why))
    return verdict


def receipts_to(state: State, key: StreamKey, place: StreamPosition) -> str:
    """Return the receipt address of a stream: from its own messages, or from other streams of its sender."""
    said = place.receipts_to or place.unconfirmed_to
    if said:
        return said
    kept = state.incoming.get(key)
    if kept is not None and kept.stream.receipts_to:
        return kept.stream.receipts_to
    others = (each.stream.receipts_to for each in state.places if each.key[0] == place.sender)
    return next(filter(None, others), "")


def tell_resumed(state: State, key: StreamKey, envelope: Envelope, stream: IncomingStream) -> None:
    """Report a stream that continued without some of its numbers: a warning, a count and an event."""
    first, last = stream.skipped[-1]
    state.counts[Count.GAPS_CLOSED] += 1
    lost = f"{first} to {last} came before the restore, or are lost"
    why = f"{stream.identifier} goes on with {stream.last}; {lost}"
    state.draft.ask(Warn(key[1], RESUMED, why))
    skipped = f"{stream.number}: {first}-{last}"
    state.draft.signal(StreamResumed(NAME, key[1], envelope.identifier, skipped, peer=str(key[0])))
