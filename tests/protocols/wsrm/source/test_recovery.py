"""The source continues in another process where it was."""

from __future__ import annotations

import pytest

from reliquary.protocols.wsrm.codec.values import CreateSequence
from reliquary.protocols.wsrm.source.facts import MessagesNumbered
from reliquary.protocols.wsrm.source.phases import Phase
from reliquary.queueing.model.events import PurgeQueue
from tests.protocols.wsrm.source.source_bench import FIRST, URL, SourceBench, closed, durable, terminated


def running() -> SourceBench:
    """Return a source that has sent three messages, of which the first is acknowledged."""
    bench = SourceBench()
    bench.put("a", "b", "c")
    bench.open()
    bench.acknowledge((1, 1), buffer=8)
    assert bench.numbers == [2, 3]
    return bench


def test_a_first_start_finds_nothing() -> None:
    assert SourceBench().wsrm.source.sequences == {}


@pytest.mark.parametrize("crash", [False, True])
def test_messages_go_again_under_their_numbers(*, crash: bool) -> None:
    bench = running()
    bench.flush()
    live = durable(bench.wsrm)
    bench.restart(crash=crash, start=False)
    assert durable(bench.wsrm) == live
    bench.forget()
    bench.start()
    assert (bench.numbers, bench.words) == ([2], ["b"])
    bench.acknowledge((1, 2), buffer=8)
    assert (bench.numbers, bench.words) == ([3], ["c"])
    bench.put("d")
    assert bench.words == ["c", "d"]


def test_what_was_not_on_disk_never_left() -> None:
    """A number and the message that shows it are one turn: without the number nothing was posted."""
    bench = SourceBench()
    bench.put("a")
    bench.open()
    bench.flush()
    bench.acknowledge((1, 1))
    bench.flush()
    bench.put("b")  # numbered and posted in a batch that the crash takes
    numbered = [turn for turn in bench.turns if any(type(fact) is MessagesNumbered for fact in turn.facts)]
    assert [turn.waits for turn in numbered] == [True, True]
    bench.restart(crash=True)
    assert bench.sequence.row.last == 1
    assert bench.waiting() == 0


def test_a_recovered_sequence_has_its_target() -> None:
    bench = running()
    bench.restart()
    [post] = bench.posts[-1:]
    envelope = bench.read(post)
    assert post.url == URL
    assert envelope.to is not None
    assert envelope.to.address == URL
    assert envelope.sequence is not None
    assert envelope.sequence.identifier == FIRST


def test_a_lost_response_to_create_sequence_leaves_one_sequence() -> None:
    bench = SourceBench()
    bench.put("a")
    [first] = bench.sent(CreateSequence)
    bench.restart()
    [again] = bench.sent(CreateSequence)[1:]
    assert again.message_id == first.message_id
    bench.out = bench.out[-1:]
    bench.open()
    assert bench.numbers == [1]


def test_a_crash_between_the_last_acknowledgement_and_the_end_leaves_nothing_behind() -> None:
    bench = running()
    bench.acknowledge((1, 3))
    bench.restart()
    bench.forget()
    bench.advance(300)
    assert bench.kinds() == ["CloseSequence"]
    bench.restart()
    bench.forget()
    bench.advance(2)
    assert bench.kinds() == ["CloseSequence"]
    post = bench.take()[-1]
    bench.answer(post, closed(post, bench, (1, 3)))
    bench.restart()
    bench.forget()
    bench.advance(2)
    assert bench.kinds() == ["TerminateSequence"]
    post = bench.take()[-1]
    bench.answer(post, terminated(post, bench))
    assert bench.wsrm.source.sequences == {}
    bench.restart()
    assert bench.wsrm.source.sequences == {}


def test_an_acknowledgement_that_comes_before_any_connection_counts() -> None:
    bench = running()
    bench.addressed = False
    bench.restart()
    bench.forget()
    bench.hear((1, 3), buffer=8)
    assert bench.waiting() == 0
    assert not bench.sequence.flights
    assert bench.posts == []


def test_a_withdrawn_message_without_its_content_ends_the_sequence() -> None:
    bench = running()
    bench.ask(PurgeQueue(0, "DIRECT=WSRM://shop.example/orders"))
    bench.put("d")
    bench.restart()
    bench.forget()
    assert bench.sequence.flights[2].message is None
    bench.advance(2)
    post = bench.take()[-1]
    bench.answer(post, closed(post, bench, (1, 1), (3, 3)))  # 2 never arrived
    assert bench.kinds() == ["TerminateSequence", "CreateSequence"]
    assert bench.sequence.phase is Phase.CREATING
    bench.open("urn:uuid:second")
    assert (bench.numbers, bench.words) == ([1], ["d"])
