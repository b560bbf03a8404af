"""A stream that comes in, [MC-MQSRM] 3.1.5.1.6.3: which of its messages are taken, in order and once.

    kept     the last stream from one sender to one destination, and its last number L
    current  the number of the message that came; previous  the one its sender sent before it

                   current = L+1    > L+1, previous <= L    > L+1, previous > L    <= L
    no stream yet  begin            out of order            out of order           -
    a newer one    begin            out of order            out of order           -
    the same       go on            go on                   out of order           repeated
    an older one   outdated         outdated                outdated               outdated

A destination is a URL as its sender writes it: he has a stream for each of his outgoing queues, and two
of them may lead to one queue here by different names.  Of a stream that is not kept, L is 0.  A sender
may skip numbers, whose messages expired (SR-136); nothing is kept back until a gap is filled, because
its sender sends all of it again.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

from reliquary.base.time import Instant
from reliquary.protocols.srmp.codec.messages import format_name
from reliquary.protocols.srmp.codec.values import Envelope, StreamPlace
from reliquary.protocols.srmp.tables import IncomingStream


class Standing(Enum):
    """How the stream of a message stands to the one that is kept."""

    NONE_KEPT = "none-kept"
    NEWER = "newer"
    SAME = "same"
    OLDER = "older"


class Step(Enum):
    """How the number of a message stands to the last one."""

    NEXT = "next"
    SKIP = "skip"
    """Numbers are left out, and the sender says so."""
    GAP = "gap"
    """Messages before it have not come."""
    BACK = "back"


class Verdict(Enum):
    """What becomes of a message of a stream."""

    BEGIN = "begin"
    GO_ON = "go-on"
    REPEATED = "repeated"
    """It came before: its sender has not got the receipt."""
    OUT_OF_ORDER = "out-of-order"
    OUTDATED = "outdated"


TAKEN: Final = frozenset({Verdict.BEGIN, Verdict.GO_ON})

ACCEPTANCE: Final[dict[tuple[Standing, Step], Verdict]] = {
    (Standing.NONE_KEPT, Step.NEXT): Verdict.BEGIN,  # SR-212
    (Standing.NONE_KEPT, Step.SKIP): Verdict.OUT_OF_ORDER,  # SR-211
    (Standing.NONE_KEPT, Step.GAP): Verdict.OUT_OF_ORDER,
    (Standing.NONE_KEPT, Step.BACK): Verdict.OUT_OF_ORDER,
    (Standing.NEWER, Step.NEXT): Verdict.BEGIN,
    (Standing.NEWER, Step.SKIP): Verdict.OUT_OF_ORDER,
    (Standing.NEWER, Step.GAP): Verdict.OUT_OF_ORDER,
    (Standing.NEWER, Step.BACK): Verdict.OUT_OF_ORDER,
    (Standing.SAME, Step.NEXT): Verdict.GO_ON,
    (Standing.SAME, Step.SKIP): Verdict.GO_ON,  # SR-136
    (Standing.SAME, Step.GAP): Verdict.OUT_OF_ORDER,  # SR-070
    (Standing.SAME, Step.BACK): Verdict.REPEATED,  # SR-069
    # DEPARTS from 3.1.5.1.6.3 (SR-211): the first message of an older stream is not taken, because
    # that is a replay, and its messages were taken once.
    (Standing.OLDER, Step.NEXT): Verdict.OUTDATED,
    (Standing.OLDER, Step.SKIP): Verdict.OUTDATED,
    (Standing.OLDER, Step.GAP): Verdict.OUTDATED,
    (Standing.OLDER, Step.BACK): Verdict.OUTDATED,
}


def judge(kept: IncomingStream | None, place: StreamPlace) -> Verdict:
    """What becomes of this message.  Changes nothing."""
    standing = _standing(kept, place)
    last = kept.last if kept is not None and standing is Standing.SAME else 0
    return ACCEPTANCE[standing, _step(last, place)]


def _standing(kept: IncomingStream | None, place: StreamPlace) -> Standing:
    if kept is None:
        return Standing.NONE_KEPT
    if place.number == kept.number:
        return Standing.SAME
    return Standing.NEWER if place.number > kept.number else Standing.OLDER


def _step(last: int, place: StreamPlace) -> Step:
    if place.current <= last:
        return Step.BACK
    if place.current == last + 1:
        return Step.NEXT
    return Step.SKIP if place.previous <= last else Step.GAP


def advanced(
    kept: IncomingStream | None, place: StreamPlace, envelope: Envelope, now: Instant
) -> IncomingStream:
    """The stream after this message of it was taken (SR-212, SR-213)."""
    if kept is not None and kept.number == place.number:
        acknowledged, receipts_to = kept.acknowledged, kept.receipts_to
    else:
        acknowledged, receipts_to = 0, place.receipts_to
    return IncomingStream(
        place.number,
        place.current,
        acknowledged,
        receipts_to,
        place.identifier,
        format_name(envelope.to),
        now,
    )
