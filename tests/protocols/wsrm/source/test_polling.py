"""A source stops without room, asks for room, and continues: [MS-WSRVCRM] 3.2 and 4."""

from __future__ import annotations

import pytest

from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import Envelope
from reliquary.protocols.wsrm.source.flow import Polling
from reliquary.protocols.wsrm.source.polling import POLL
from reliquary.protocols.wsrm.state import Count
from reliquary.queueing.model.message import MessageClass
from tests.protocols.wsrm.source.source_bench import FIRST, SHOP, Came, SourceBench, closed

OTHER = "DIRECT=WSRM://other.example/orders"


def full(*later: str) -> SourceBench:
    """Return a source whose peer has taken message 1 and has no more room; `later` waits."""
    bench = SourceBench()
    bench.put("first", *later)
    bench.open()
    bench.acknowledge((1, 1), buffer=0)
    bench.forget()
    return bench


def polls(bench: SourceBench) -> bool:
    return any(name[0] == POLL for name in bench.timers)


@pytest.mark.spec("FC-001", "FC-002", "FC-032", "FC-034")
@pytest.mark.wsrm("T01")
def test_a_fresh_sequence_does_not_poll() -> None:
    bench = SourceBench()
    bench.put("a")
    bench.open()
    assert bench.sequence.flow.polling is Polling.NOT_POLLING
    assert not polls(bench)


@pytest.mark.spec("FC-006", "FC-029", "FC-031", "FC-033", "FC-035", "FC-036")
@pytest.mark.wsrm("T08")
def test_every_thirty_seconds_an_acknowledgement_is_asked_for() -> None:
    bench = full("second")
    for _ in range(3):
        bench.advance(29)
        assert bench.kinds() == []
        bench.advance(1)
        [poll] = bench.sent()
        assert poll.ack_requests == (FIRST,)
        assert poll.sequence is None
        bench.answer(bench.take()[0])
    assert bench.wsrm.counts[Count.POLLS] == 3


@pytest.mark.spec("FC-028", "FC-037", "FC-038", "FC-042")
@pytest.mark.wsrm("T09")
def test_room_lets_the_source_send() -> None:
    bench = SourceBench()
    bench.put("a", "b", "c")
    bench.open()
    bench.acknowledge((1, 1), buffer=5)
    assert bench.numbers == [2, 3]
    assert not polls(bench)


@pytest.mark.spec("FC-030", "FC-043")
@pytest.mark.wsrm("T10")
def test_new_messages_wait_without_room() -> None:
    bench = full()
    bench.put("a", "b", "c")
    assert bench.kinds() == []
    assert bench.sequence.flow.polling is Polling.POLLING
    assert polls(bench)
    assert bench.waiting() == 3


@pytest.mark.spec("FC-040")
@pytest.mark.wsrm("T11")
def test_a_report_of_room_releases_that_number_of_messages() -> None:
    bench = full("a", "b", "c")
    bench.hear((1, 1), buffer=1)
    assert bench.numbers == [2]
    assert not polls(bench)
    bench.advance(1)
    assert bench.numbers == [2]
    bench.acknowledge((1, 2), buffer=2)
    assert bench.numbers == [3, 4]


@pytest.mark.spec("FC-039", "FC-042")
@pytest.mark.wsrm("T12")
def test_an_acknowledgement_without_the_element_does_not_stop_the_source() -> None:
    bench = SourceBench()
    bench.put("a", "b")
    bench.open()
    bench.acknowledge((1, 1))
    assert bench.numbers == [2]
    assert bench.sequence.flow.polling is Polling.NOT_POLLING


@pytest.mark.spec("FC-041")
@pytest.mark.wsrm("T13", "T14")
@pytest.mark.parametrize("buffer", [0, -1])
def test_no_news_of_room_leaves_the_timer_alone(buffer: int) -> None:
    bench = full("second")
    bench.advance(20)
    bench.hear((1, 1), buffer=buffer)
    bench.advance(9)
    assert bench.kinds() == []
    bench.advance(1)
    assert bench.kinds() == ["AckRequested"]


@pytest.mark.spec("FC-044", "FC-045")
@pytest.mark.wsrm("T15")
@pytest.mark.parametrize("code", [FaultCode.SEQUENCE_TERMINATED, FaultCode.UNKNOWN_SEQUENCE])
def test_a_sequence_that_ends_is_not_polled_for(code: FaultCode) -> None:
    bench = full("second")
    bench.advance(30)
    [poll] = bench.take()
    bench.fault(poll, code)
    assert not polls(bench)
    bench.advance(100)
    assert "AckRequested" not in bench.kinds()


@pytest.mark.spec("FC-044", "FC-045")
@pytest.mark.wsrm("T15")
def test_a_sequence_that_is_closed_is_not_polled_for() -> None:
    bench = full()
    bench.advance(300)
    assert bench.kinds()[-1] == "CloseSequence"
    assert not polls(bench)
    bench.answer(bench.posts[-1], closed(bench.posts[-1], bench, (1, 1)))
    assert not polls(bench)


@pytest.mark.spec("FC-045")
@pytest.mark.wsrm("T16")
def test_the_end_of_a_sequence_that_does_not_poll_touches_no_timer() -> None:
    bench = SourceBench()
    bench.put("a")
    bench.open()
    bench.fault(bench.take()[0], FaultCode.UNKNOWN_SEQUENCE)
    assert not polls(bench)


@pytest.mark.wsrm("T17")
def test_the_source_sends_the_seven_messages_of_the_example() -> None:
    bench = SourceBench()
    states: list[object] = []
    bench.put("1", "2", "3")
    bench.open()
    for ranges, buffer in (((1, 1), 1), ((1, 2), 0), ((1, 2), 1), ((1, 3), 0)):
        if bench.posts:
            states.append(bench.numbers)
            bench.acknowledge(ranges, buffer=buffer)
        else:  # message 5: the destination reports room by itself
            bench.hear(ranges, buffer=buffer)
        states.append(bench.sequence.flow.polling)
    no, yes = Polling.NOT_POLLING, Polling.POLLING
    assert states == [[1], no, [2], yes, no, [3], yes]


@pytest.mark.wsrm("T21", "T22")
def test_a_lost_acknowledgement_and_a_lost_poll_cost_an_interval_each() -> None:
    bench = full("second")
    bench.advance(30)  # the first poll is lost, and with it its connection
    bench.fail(bench.take()[0])
    bench.advance(29)
    assert [kind for kind in bench.kinds() if kind != "1"] == []
    bench.advance(1)
    assert bench.kinds() == ["AckRequested"]
    bench.acknowledge((1, 1), buffer=1)
    assert bench.numbers == [2]


@pytest.mark.wsrm("T23")
def test_a_restarted_source_does_not_poll_before_a_report_without_room() -> None:
    bench = SourceBench()
    bench.put("a", "b", "c")
    bench.open()
    bench.acknowledge((1, 1), buffer=2)
    bench.acknowledge((1, 1), buffer=0)
    states = [bench.sequence.flow.polling]
    bench.restart()
    states.append(bench.sequence.flow.polling)
    assert not polls(bench)
    assert bench.numbers == [2]
    bench.acknowledge((1, 2), buffer=0)
    states.append(bench.sequence.flow.polling)
    assert bench.numbers == []
    assert states == [Polling.POLLING, Polling.NOT_POLLING, Polling.POLLING]


@pytest.mark.wsrm("T25")
def test_an_old_acknowledgement_that_comes_late_says_nothing_of_room() -> None:
    bench = SourceBench()
    bench.put("a", "b", "c")
    bench.open()
    bench.acknowledge((1, 1), buffer=8)
    bench.acknowledge((1, 3), buffer=1)
    bench.hear((1, 2), buffer=0)
    assert bench.sequence.flow.polling is Polling.NOT_POLLING
    assert bench.sequence.flow.buffer == 1


@pytest.mark.wsrm("T29")
def test_each_sequence_has_a_state_of_its_own() -> None:
    bench = full("waits")
    bench.put("a", "b", to=OTHER)
    bench.open("urn:uuid:other")
    [post] = bench.take()
    said = bench.acknowledgement((1, 1), buffer=5).acknowledgements[0]
    other = type(said)("urn:uuid:other", said.ranges, buffer=5)
    bench.answer(post, Envelope(dialect=bench.sequence.row.dialect, acknowledgements=(other,)))
    assert [envelope.sequence.identifier for envelope in bench.sent() if envelope.sequence] == [
        "urn:uuid:other"
    ]
    assert bench.sequence.flow.polling is Polling.POLLING


@pytest.mark.wsrm("T32")
@pytest.mark.parametrize("early", [True, False])
def test_room_that_comes_with_a_poll_ends_polling(early: bool) -> None:
    bench = full("second")
    bench.advance(29.999 if early else 30)
    bench.hear((1, 1), buffer=3)
    bench.advance(40)
    assert bench.sequence.flow.polling is Polling.NOT_POLLING
    assert not polls(bench)
    assert bench.kinds().count("AckRequested") == (0 if early else 1)


@pytest.mark.wsrm("T34")
def test_what_was_sent_goes_again_without_room_but_nothing_new_does() -> None:
    bench = SourceBench()
    bench.put("a", "b", "c")
    bench.open()
    bench.acknowledge(buffer=0)  # it took nothing
    bench.advance(2)
    assert bench.numbers == [1]
    bench.advance(25)
    assert set(bench.numbers) == {1}


def test_a_peer_without_room_never_makes_a_message_too_old() -> None:
    bench = SourceBench()
    bench.put("a")
    bench.open()
    for _ in range(40):
        for post in bench.take():
            bench.answer(post, bench.acknowledgement(buffer=0))
        bench.advance(60)
    assert bench.waiting() == 1
    assert bench.sequence.flights[1].retries == 0


def test_a_message_whose_time_is_over_leaves_while_there_is_no_room() -> None:
    bench = full()
    bench.put("short", negative_journaling=True, time_to_reach_queue=20)
    bench.put("long")
    bench.advance(60)
    assert bench.waiting() == 1
    dead = bench.queue("system$;deadletter").order.first()
    assert dead is not None
    assert dead.reason is MessageClass.NACK_REACH_QUEUE_TIMEOUT
    bench.take()
    bench.hear((1, 1), buffer=2)
    assert bench.words == ["long"]


def test_a_poll_waits_for_a_connection() -> None:
    bench = full("second")
    bench.advance(29)
    bench.put("third")
    bench.handle(Came(bench.acknowledgement((1, 1), buffer=0)))
    bench.advance(1)
    bench.fail(bench.take()[0])
    assert not bench.link(SHOP).asked
    bench.advance(0.5)
    assert bench.kinds() == []


@pytest.mark.spec("FC-044", "FC-045")
def test_a_sequence_that_the_peer_closes_is_not_polled_for() -> None:
    bench = full("second")
    bench.hear((1, 1), final=True)
    assert bench.kinds() == ["TerminateSequence", "CreateSequence"]
    assert not polls(bench)
