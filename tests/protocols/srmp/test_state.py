"""Tests the state of SRMP besides its streams."""

from __future__ import annotations

from reliquary.base.time import seconds
from reliquary.protocols.srmp.sender.addresses import PostAddress
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.srmp.state import Session, State
from reliquary.protocols.srmp.tables import TABLES
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows
from reliquary.streams.incoming import Coalescing
from reliquary.streams.ladder import RESEND_LADDER as LADDER
from reliquary.streams.ladder import ReceiptWait
from reliquary.streams.progress import Progress


def test_streams_are_kept_as_the_settings_say() -> None:
    settings = SrmpSettings(
        history_size=7, coalescing=seconds(1), longest_coalescing=seconds(2), most_coalesced=3
    )
    state = State(StagedRows(MemoryDisk(TABLES)), settings)
    assert state.history.size == 7
    assert state.receiver.coalescing == Coalescing(seconds(1), seconds(2), 3)


def test_a_session_counts_from_zero_for_a_stream_that_begins() -> None:
    """The time of the last receipt is still shown, and a running timer continues."""
    session = Session(4, "DIRECT=HTTP://a/b", PostAddress(), ReceiptWait(LADDER))
    session.wait = ReceiptWait(LADDER, running=True, rung=3, until=99, timeouts=3)
    session.progress = Progress(receipts=5, receipt_time=77, unread=2)
    session.start_counting()
    assert session.wait == ReceiptWait(LADDER, running=True, rung=0, until=99, timeouts=0)
    assert session.progress == Progress(receipts=0, receipt_time=77, unread=0)
