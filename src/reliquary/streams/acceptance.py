"""Decides which messages of an incoming stream are taken: in order, and each once.

    kept     the last known stream from one sender to one destination; L is the number of its last message
    current  the number of the message that came
    previous the number of the message that its sender sent before it

    the stream is  current = L+1    > L+1, previous <= L    > L+1, previous > L    <= L
    the first      begin            out of order            out of order           -
    a newer one    begin            out of order            out of order           -
    the kept one   go on            go on                   out of order           repeated
    an older one   outdated         outdated                outdated               outdated

L is 0 for a stream that is not kept.  A sender may skip numbers whose messages expired (SR-136).  Messages
after a gap are not stored until it is filled, because the sender sends all of them again.  A protocol whose
streams may begin with any number, if nothing comes before it, brings a table with `begin` in column two.

Modules:

    sender
        numbering       gives a stream its number, and new numbers to the messages of a stream without a start
        outgoing        keeps which message has which number
        ladder          says how long to wait for a receipt before all messages are sent again
        acknowledging   finds the messages that a receipt confirms
        closing         ends streams of an older era, after a restore
        progress        reports to the manager how far the stream got
    receiver
        acceptance      decides which messages are taken: the next one, and none twice
        incoming        decides when the receipt for several messages is due
        history         keeps identifiers of taken messages, which show duplicates outside a stream
        gaps            passes over numbers that are missing for good after a restore
    both
        restoring       marks all streams when the store was restored
        tables, facts, apply, recovery, state    the durable state, and the one place that changes it
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from msgspec.structs import replace

from reliquary.base.ranges import NumberRanges
from reliquary.base.time import Instant
from reliquary.streams.tables import IncomingStream


class StreamRelation(Enum):
    """The relation between the stream of a message and the stream that is kept."""

    NONE_KEPT = "none-kept"
    NEWER = "newer"
    SAME = "same"
    OLDER = "older"

    __hash__ = object.__hash__  # members are equal only to themselves; the hash of Enum is slower


class NumberRelation(Enum):
    """The relation between the number of a message and the last number that was taken."""

    NEXT = "next"
    SKIP = "skip"
    """Numbers are left out, as the sender's `previous` says."""
    GAP = "gap"
    """Messages before it have not come."""
    BACK = "back"
    """A message with this number or a higher one was taken before."""

    __hash__ = object.__hash__  # as above


class Verdict(Enum):
    """The decision about a message of a stream."""

    BEGIN = "begin"
    GO_ON = "go-on"
    REPEATED = "repeated"
    """The message was taken before, and its sender has not received the receipt."""
    OUT_OF_ORDER = "out-of-order"
    OUTDATED = "outdated"
    RESUMED = "resumed"
    """The message is taken although earlier numbers are missing, because they will never come (`gaps`)."""
    LATE = "late"
    """The number was skipped before, so it is not known whether the message was taken."""

    __hash__ = object.__hash__  # as above


_SAME: Final = StreamRelation.SAME
_NEXT: Final = NumberRelation.NEXT
TAKEN: Final = frozenset({Verdict.BEGIN, Verdict.GO_ON, Verdict.RESUMED})
"""The verdicts for messages that are taken."""

Acceptance = Mapping[tuple[StreamRelation, NumberRelation], Verdict]
"""The verdict for each relation of the stream and of the number of a message."""

ACCEPTANCE: Final[Acceptance] = {
    (StreamRelation.NONE_KEPT, NumberRelation.NEXT): Verdict.BEGIN,  # SR-212
    (StreamRelation.NONE_KEPT, NumberRelation.SKIP): Verdict.OUT_OF_ORDER,  # SR-211
    (StreamRelation.NONE_KEPT, NumberRelation.GAP): Verdict.OUT_OF_ORDER,
    (StreamRelation.NONE_KEPT, NumberRelation.BACK): Verdict.OUT_OF_ORDER,
    (StreamRelation.NEWER, NumberRelation.NEXT): Verdict.BEGIN,
    (StreamRelation.NEWER, NumberRelation.SKIP): Verdict.OUT_OF_ORDER,
    (StreamRelation.NEWER, NumberRelation.GAP): Verdict.OUT_OF_ORDER,
    (StreamRelation.NEWER, NumberRelation.BACK): Verdict.OUT_OF_ORDER,
    (StreamRelation.SAME, NumberRelation.NEXT): Verdict.GO_ON,
    (StreamRelation.SAME, NumberRelation.SKIP): Verdict.GO_ON,  # SR-136
    (StreamRelation.SAME, NumberRelation.GAP): Verdict.OUT_OF_ORDER,  # SR-070
    (StreamRelation.SAME, NumberRelation.BACK): Verdict.REPEATED,  # SR-069
    # DEPARTS from 3.1.5.1.6.3 (SR-211): the first message of an older stream is not taken, because
    # that is a replay, and its messages were taken once.
    (StreamRelation.OLDER, NumberRelation.NEXT): Verdict.OUTDATED,
    (StreamRelation.OLDER, NumberRelation.SKIP): Verdict.OUTDATED,
    (StreamRelation.OLDER, NumberRelation.GAP): Verdict.OUTDATED,
    (StreamRelation.OLDER, NumberRelation.BACK): Verdict.OUTDATED,
}
"""The table of protocols whose streams begin with number 1."""


def judge(
    kept: IncomingStream | None, stream: int, current: int, previous: int, acceptance: Acceptance = ACCEPTANCE
) -> Verdict:
    """Return the verdict on message `current` of a stream; nothing changes."""
    last = 0
    if kept is None:
        stream_relation = StreamRelation.NONE_KEPT
    elif stream == kept.number:
        stream_relation, last = _SAME, kept.last
    else:
        stream_relation = StreamRelation.NEWER if stream > kept.number else StreamRelation.OLDER
    if current <= last:
        number_relation = NumberRelation.BACK
    elif current == last + 1:
        number_relation = _NEXT
    else:
        number_relation = NumberRelation.SKIP if previous <= last else NumberRelation.GAP
    return acceptance[stream_relation, number_relation]


def advanced(
    kept: IncomingStream | None,
    stream: int,
    current: int,
    previous: int,
    now: Instant,
    *,
    receipts_to: str = "",
    identifier: str = "",
    format_name: str = "",
) -> IncomingStream:
    """Return the stream after its message `current` was taken (SR-212, SR-213).

    A stream that goes on keeps the address of its receipts, because only its first message has it.  It loses
    the marks `restored` and `reset`: its numbers are in order from now on.
    """
    last = acknowledged = 0
    skipped: tuple[tuple[int, int], ...] = ()
    if kept is not None and kept.number == stream:
        last, acknowledged, skipped = kept.last, kept.acknowledged, kept.skipped
        receipts_to = kept.receipts_to or receipts_to
    if previous > last:
        skipped = (*skipped, (last + 1, current - 1))
    elif current <= last:  # an administrator has reset the stream
        skipped, acknowledged = (), min(acknowledged, current)
    return IncomingStream(
        stream, current, acknowledged, receipts_to, identifier, format_name, now, skipped=skipped
    )


def without_skipped(kept: IncomingStream, current: int) -> IncomingStream:
    """Return the stream after a message came whose number was passed over before."""
    skipped = NumberRanges(kept.skipped)
    skipped.remove(current)
    return replace(kept, skipped=tuple(skipped))
