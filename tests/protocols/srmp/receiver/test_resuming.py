"""The receiver continues streams after a restore."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.restoration import Restoration
from reliquary.protocols.srmp.receiver.resuming import NO_ADDRESS, RESUMED
from reliquary.protocols.srmp.state import Count
from reliquary.queueing.model.events import ChangeQueue
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.streams.gaps import ENOUGH
from tests.protocols.srmp import peer
from tests.protocols.srmp.receiving import Receiving, refused
from tests.queueing.history.chronicle import events_of, words
from tests.queueing.state_checks import check, walk

DEAD_STREAM = "system$;deadxact"
NEW = peer.STREAM + 1
UNCONFIRMED = (
    '<unconfirmed xmlns="urn:reliquary:streams"><sendReceiptsTo>http://alpha.example/again</sendReceiptsTo>'
    "</unconfirmed>"
)


def restored(last: int = 2, **options: Any) -> Receiving:
    """Return a manager that was restored, and had `last` messages of a stream when the backup was made."""
    bench = Receiving(**options)
    for number in range(1, last + 1):
        bench.post(*peer.stream_message(number))
    bench.advance(10)  # all that comes from now on was sent after the restore
    bench.restoration = Restoration(UUID(int=99), alive_until=1)
    bench.restart()
    bench.restoration = None
    return bench


def come(bench: Receiving, current: int, **elements: Any) -> int:
    """Post a message of the stream; the status of its answer."""
    return bench.post(*peer.stream_message(current, **elements)).status


def come_in_rounds(bench: Receiving, current: int, count: int = ENOUGH, **elements: Any) -> int:
    """Post a message as a sender that gets no receipt; return the status of the last answer."""
    status = 0
    for _ in range(count):
        bench.advance(30)
        status = come(bench, current, **elements)
    return status


def resumed(bench: Receiving) -> list[str]:
    return [each.what for each in bench.warnings if each.what in (RESUMED, NO_ADDRESS)]


@pytest.mark.spec("SR-070")
def test_the_stream_goes_on_with_the_lowest_number_and_its_receipt_says_so() -> None:
    bench = restored()
    assert [come(bench, number) for number in (8, 9, 8, 9)] == [200] * 4
    assert bench.bodies("torders") == [b"1", b"2"], "a repeat by the network proves nothing"
    come_in_rounds(bench, 8, ENOUGH - 1)
    assert [come(bench, number) for number in (9, 10)] == [200] * 2
    assert bench.bodies("torders") == [b"1", b"2", b"8", b"9", b"10"]
    assert resumed(bench) == [RESUMED]
    assert bench.srmp.state.counts[Count.GAPS_CLOSED] == 1
    bench.advance(20)
    assert [each.said["lastOrdinal"] for each in bench.receipts][-1] == "10"
    check(bench.state)


def test_the_history_has_the_lost_numbers() -> None:
    bench = restored(history=True)
    come_in_rounds(bench, 8)
    bench.flush()
    found = [each for each in words(events_of(bench.disk), "peer", "batch") if each[0] == "resumed"]
    assert found == [("resumed", str(peer.ALPHA), f"{peer.STREAM}: 3-7")]


@pytest.mark.parametrize("crash", [False, True])
def test_a_number_that_was_passed_over_is_put_aside_once(crash: bool) -> None:
    bench = restored()
    come_in_rounds(bench, 8)
    if crash:
        bench.restart()
    assert [come(bench, number) for number in (5, 5, 2)] == [200] * 3
    assert bench.bodies("torders") == [b"1", b"2", b"8"]
    (position,) = walk(bench.queue(DEAD_STREAM))
    assert (position.reason, bench.bodies(DEAD_STREAM)) == (NOT_KNOWN, [b"5"])
    assert bench.srmp.state.counts[Count.DUPLICATES] == 2
    come(bench, 9)
    assert bench.bodies("torders")[-1] == b"9"
    check(bench.state)


def test_a_full_queue_loses_no_message_of_a_stream_that_resumes() -> None:
    bench = restored()
    bench.ask(ChangeQueue(0, "torders", {"quota": 0}))
    assert come_in_rounds(bench, 8) == 500
    assert resumed(bench) == []
    bench.ask(ChangeQueue(0, "torders", {"quota": 1000}))
    assert come_in_rounds(bench, 8, 1) == 200
    assert bench.bodies("torders")[-1] == b"8"


@pytest.mark.parametrize("how", ["said", "same sender", "other queue"])
def test_a_stream_whose_start_is_forgotten_goes_on_where_its_receipts_can_be_sent(how: str) -> None:
    bench = restored(0 if how == "said" else 2)
    if how == "other queue":
        bench.create("others", transactional=True)
    to = peer.TORDERS.replace("torders", "others") if how == "other queue" else peer.TORDERS
    block = UNCONFIRMED if how == "said" else ""
    come_in_rounds(bench, 8, stream=NEW, to=to, block=block)
    assert resumed(bench) == [RESUMED]
    bench.advance(20)
    expected = "http://alpha.example/again" if how == "said" else peer.RECEIPTS
    assert bench.receipts[-1].to.lower() == expected.lower()


def test_a_stream_that_waits_has_no_outcome_and_one_warning() -> None:
    bench = restored(0)
    assert come_in_rounds(bench, 8, ENOUGH + 2) == 200
    assert bench.bodies("torders") == []
    assert resumed(bench) == [NO_ADDRESS]


def test_a_malformed_address_is_refused() -> None:
    bench = restored(0)
    wrong = UNCONFIRMED.replace("http://alpha.example/again", "ftp://alpha.example")
    refused(bench, peer.stream_message(8, block=wrong), naming="sendReceiptsTo")


def test_a_manager_that_was_not_restored_ignores_what_a_sender_says() -> None:
    bench = Receiving()
    come(bench, 1)
    for _ in range(4):
        come(bench, 8, block=UNCONFIRMED)
    assert bench.bodies("torders") == [b"1"]
