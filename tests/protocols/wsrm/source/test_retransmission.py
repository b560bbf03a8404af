"""Messages without an acknowledgement are sent again, later each time, a limited number of times."""

from __future__ import annotations

import pytest

from reliquary.base.turn import TimerFired
from reliquary.protocols.wsrm.codec.values import CloseSequence, Dialect, Version
from reliquary.protocols.wsrm.events import TerminateSequence
from reliquary.protocols.wsrm.settings import PeerSettings, WsrmSettings
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.protocols.wsrm.source.waits import RETRANSMIT
from reliquary.protocols.wsrm.state import Count
from reliquary.queueing.model.events import BringOnline, PauseQueue, ResumeQueue, TakeOffline
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.travel.failures import Failure
from tests.protocols.wsrm.source.source_bench import FIRST, SHOP, SourceBench, closed

DEAD = "system$;deadletter"


def sent(*words: str, retries: int = 3, **peer: object) -> SourceBench:
    """Return a source whose peer took the first message and has all others before it."""
    peers = (PeerSettings(address="*", **peer),)  # type: ignore[arg-type]
    bench = SourceBench(settings=WsrmSettings(peers=peers, retries=retries))
    bench.put("first", *words, negative_journaling=True)
    bench.open()
    bench.acknowledge((1, 1))
    return bench


def silent(bench: SourceBench, status: int = 202) -> None:
    """Answer all without an acknowledgement."""
    for post in bench.take():
        bench.answer(post, status=status)


@pytest.mark.parametrize("status", [202, 404, 500])
def test_the_wait_doubles(status: int) -> None:
    bench = sent("a", retries=5)
    moments = []
    silent(bench, status)
    for _ in range(62):
        bench.advance(1)
        if bench.posts:
            moments.append((bench.now - 1_700_000_000_000_000) // 1_000_000)
            assert bench.words == ["a"]
            silent(bench, status)
    assert moments == [2, 6, 14, 30, 62]
    assert bench.wsrm.counts[Count.RETRANSMISSIONS] == bench.sequence.retransmissions == 5


def test_what_goes_again_asks_for_an_acknowledgement() -> None:
    bench = sent("a", "b")
    silent(bench)
    bench.advance(2)
    assert [each.ack_requests for each in bench.sent()] == [(FIRST,), (FIRST,)]
    assert bench.numbers == [2, 3]


def test_an_acknowledgement_makes_the_wait_short_again() -> None:
    bench = sent("a", "b")
    silent(bench)
    bench.advance(2)
    silent(bench)
    bench.advance(4)
    bench.acknowledge((1, 2))
    bench.advance(2)
    assert bench.numbers == [3]


def test_a_request_without_a_response_is_not_sent_beside_itself() -> None:
    bench = sent("a")
    bench.advance(50)
    assert bench.numbers == [2]
    bench.fail(bench.posts[0], Failure.TIMED_OUT)
    bench.advance(1)
    assert bench.numbers == [2, 2]
    assert bench.sequence.flights[2].retries == 0


def test_retries_of_the_first_unacknowledged_message_are_limited() -> None:
    bench = sent("poison", "b", retries=3)
    kinds = []
    for _ in range(60):
        kinds += bench.kinds()
        for post in bench.take():
            if isinstance(bench.read(post).body, CloseSequence):
                bench.answer(post, closed(post, bench, (1, 1)))
            else:
                bench.answer(post)
        bench.advance(1)
        if "TerminateSequence" in kinds:
            break
    assert kinds.count("2") == 4  # the first time, and three times again
    assert kinds[kinds.index("CloseSequence") :] == ["CloseSequence", "TerminateSequence", "CreateSequence"]
    dead = bench.queue(DEAD)
    assert bench.bodies(DEAD) == [b"<m>poison</m>"]
    first = dead.order.first()
    assert first is not None
    assert first.reason is MessageClass.NACK_REACH_QUEUE_TIMEOUT


def test_the_others_go_on_in_a_new_sequence_in_their_order() -> None:
    bench = sent("poison", "b", "c", retries=1)
    silent(bench)
    bench.advance(2)
    silent(bench)
    bench.advance(4)
    [post] = bench.take()
    bench.answer(post, closed(post, bench, (1, 1), (3, 3)))  # b arrived behind the gap
    assert bench.waiting() == 1
    bench.open("urn:uuid:second")
    assert (bench.numbers, bench.words) == ([1], ["c"])


def test_a_message_that_the_last_acknowledgement_shows_was_delivered() -> None:
    bench = sent("a", retries=1)
    silent(bench)
    bench.advance(2)
    silent(bench)
    bench.advance(4)
    [post] = bench.take()
    bench.answer(post, closed(post, bench, (1, 2)))
    assert bench.waiting() == 0
    assert bench.bodies(DEAD) == []


def test_a_close_without_an_answer_gives_the_messages_up() -> None:
    """It is unknown whether the messages arrived, so they are not sent again."""
    bench = sent("a", retries=1)
    for _ in range(40):
        silent(bench, 500)
        bench.advance(1)
    assert bench.waiting() == 0
    assert bench.bodies(DEAD) == [b"<m>a</m>"]
    assert bench.wsrm.source.sequences == {}


def test_a_close_that_cannot_be_sent_gives_nothing_up() -> None:
    bench = sent("a", retries=1)
    silent(bench)
    bench.advance(2)
    silent(bench)
    bench.advance(4)
    for _ in range(100):
        for post in bench.take():
            assert bench.kinds() == []
            bench.fail(post)
        bench.advance(10)
    assert bench.sequence.phase is Phase.CLOSING
    assert bench.waiting() == 1


@pytest.mark.parametrize("version", Version)
def test_after_the_close_no_message_is_sent_again(version: Version) -> None:
    """Other stacks went on to send, without end, in a sequence that was closed."""
    bench = sent("a", retries=2, dialect=Dialect(version=version))
    kinds: list[str] = []
    for _ in range(400):
        kinds += bench.kinds()
        silent(bench)
        bench.advance(1)
    assert kinds.count("2") == 3
    assert kinds.count("CloseSequence") + kinds.count("AckRequested") == 3
    assert kinds.count("TerminateSequence") == 1
    assert bench.wsrm.source.sequences == {}


def test_a_sequence_of_ws_rm_1_0_ends_with_the_acknowledgement_that_was_asked_for() -> None:
    bench = sent("poison", "b", retries=1, dialect=Dialect(version=Version.RM10))
    silent(bench)
    bench.advance(2)
    silent(bench)
    bench.advance(4)
    assert bench.kinds() == ["AckRequested"]
    bench.acknowledge((1, 1))
    assert bench.kinds() == ["TerminateSequence", "CreateSequence"]
    assert bench.bodies(DEAD) == [b"<m>poison</m>"]


@pytest.mark.parametrize("hindrance", [PauseQueue(0, SHOP), TakeOffline(0)])
def test_a_close_waits_while_nothing_may_leave(hindrance: PauseQueue | TakeOffline) -> None:
    bench = sent("a")
    bench.ask(hindrance)
    bench.forget()
    bench.ask(TerminateSequence(0, bench.sequence.number))
    bench.advance(100)
    assert bench.posts == []
    bench.ask(BringOnline(0))
    bench.ask(ResumeQueue(0, SHOP))
    bench.advance(2)
    assert "CloseSequence" in bench.kinds()


def test_a_close_whose_response_is_under_way_is_not_sent_beside_it() -> None:
    bench = sent("a")
    bench.ask(TerminateSequence(0, bench.sequence.number))
    bench.advance(50)
    assert bench.kinds() == ["2", "CloseSequence"]


def test_a_terminate_whose_response_is_under_way_is_not_sent_beside_it() -> None:
    bench = sent("a")
    bench.acknowledge((1, 2), final=True)
    bench.advance(50)
    assert bench.kinds() == ["TerminateSequence"]


def test_an_acknowledgement_while_the_queue_rests_makes_nothing_go() -> None:
    bench = sent("a", "b")
    for _ in range(4):  # the next rest is ten seconds
        bench.fail(bench.take()[0])
        while not bench.posts:
            bench.advance(1)
    bench.fail(bench.take()[0])
    bench.hear((1, 2))
    bench.advance(5)
    assert bench.posts == []
    bench.advance(30)
    assert bench.numbers == [3]


def test_offline_no_time_out_makes_anything_go() -> None:
    bench = sent("a")
    bench.ask(TakeOffline(0))
    silent(bench)
    bench.advance(100)
    assert bench.posts == []
    bench.ask(BringOnline(0))
    bench.advance(2)
    assert bench.numbers == [2]


def test_a_timer_of_a_sequence_that_has_ended_does_nothing() -> None:
    bench = sent("a")
    bench.handle(TimerFired((RETRANSMIT, 77)))
    assert bench.numbers == [2]
