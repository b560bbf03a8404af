"""Tests the progress of a stream in the view of the manager."""

from __future__ import annotations

import pytest

from reliquary.base.time import Instant, seconds
from reliquary.queueing.model.message import SequenceId
from reliquary.queueing.model.travel.link import OutgoingTransfer, SequenceInfo
from reliquary.queueing.model.travel.transfer import TransferProgressed
from reliquary.streams.ladder import RESEND_LADDER, ReceiptWait
from reliquary.streams.outgoing import Sent
from reliquary.streams.progress import Progress, progressed
from reliquary.streams.tables import OutgoingStream

STREAM = SequenceId(3, 9)


def sent(*numbers: int, last: int, acknowledged: int = 0) -> Sent:
    made = Sent(OutgoingStream(9 << 32 | 3, last, acknowledged))
    for number in numbers:
        made.give(number, 100 + number)
    return made


@pytest.mark.spec("SR-221", "SR-223", "SR-224", "SR-268", "SR-269", "SR-270")
def test_a_stream_is_shown_with_its_numbers_and_its_wait() -> None:
    wait = ReceiptWait(RESEND_LADDER, running=True, rung=4, timeouts=4, until=77)
    progress = Progress(receipts=2, receipt_time=66, unread=5)
    stream = sent(4, 6, 9, last=9, acknowledged=5)
    assert progressed(8, stream, progress, wait) == TransferProgressed(
        8,
        OutgoingTransfer(
            first_unacknowledged=SequenceInfo(STREAM, 6, 5),
            last_acknowledged=SequenceInfo(STREAM, 5, 0),
            last_unacknowledged=SequenceInfo(STREAM, 9, 6),
            next_to_send=SequenceInfo(STREAM, 10, 9),
            acknowledged_count=2,
            acknowledged_time=66,
            unacknowledged=2,
            unread=5,
            resent=4,
            resend_interval=seconds(300) // seconds(1),
            resend_time=77,
        ),
    )


@pytest.mark.spec("SR-223")
def test_a_stream_that_is_acknowledged_has_no_first_and_no_last_message() -> None:
    stream = sent(4, last=5, acknowledged=5)
    shown = progressed(8, stream, Progress(), ReceiptWait(RESEND_LADDER)).transfer
    assert (shown.first_unacknowledged, shown.last_unacknowledged, shown.unacknowledged) == (None, None, 0)


@pytest.mark.spec("SR-221", "SR-267")
def test_receipts_are_counted_until_a_new_stream_begins() -> None:
    progress = Progress(unread=3)
    progress.receipt(Instant(50))
    progress.receipt(Instant(60))
    assert progress == Progress(receipts=2, receipt_time=60, unread=3)
    progress.begin()
    assert progress == Progress(receipts=0, receipt_time=60, unread=0)
