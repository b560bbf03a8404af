"""Sessions open and close: connections, failures, pauses."""

from __future__ import annotations

from itertools import pairwise

import pytest

from reliquary.base.time import seconds
from reliquary.protocols.wsrm.schemes import offered_name
from reliquary.protocols.wsrm.settings import PeerSettings, WsrmSettings
from reliquary.protocols.wsrm.source.sessions import AHEAD
from reliquary.queueing.model.events import BringOnline, PauseQueue, ResumeQueue, TakeOffline
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingState
from reliquary.queueing.travel.failures import Failure
from tests.protocols.wsrm.source.source_bench import SHOP, SourceBench, closed, terminated


def two_sent() -> SourceBench:
    bench = SourceBench()
    bench.put("a", "b")
    bench.open()
    bench.acknowledge((1, 1), buffer=8)
    return bench


def test_nothing_is_sent_before_the_server_listens() -> None:
    bench = SourceBench(addressed=False)
    bench.put("a")
    assert bench.posts == []
    bench.handle(bench.ADDRESSED)
    assert bench.kinds() == ["CreateSequence"]


def test_the_manager_hands_out_more_than_a_window() -> None:
    peers = (PeerSettings(address="*", window=5),)
    bench = SourceBench(settings=WsrmSettings(peers=peers))
    bench.put(*(str(each) for each in range(30)))
    assert bench.link().at_once == AHEAD * 5
    assert len(bench.session.waiting) == AHEAD * 5
    assert bench.link().next_hops == ("shop.example",)


def test_after_a_failure_the_queue_rests_and_all_goes_again_under_its_number() -> None:
    bench = two_sent()
    [post] = bench.take()
    bench.fail(post, Failure.NO_CONNECTION)
    assert bench.link().state is OutgoingState.INACTIVE
    assert bench.link().history[-1].status is ConnectionStatus.SOCKET_CONNECT_FAILURE
    bench.advance(0.9)
    assert bench.posts == []
    bench.advance(0.1)
    assert (bench.numbers, bench.words) == ([2], ["b"])
    assert bench.sequence.flights[2].retries == 0  # a peer that cannot be reached does not count


def test_rests_grow_while_the_peer_cannot_be_reached() -> None:
    bench = SourceBench()
    bench.put("a")
    moments = []
    for _ in range(4):
        moments.append(bench.now)
        bench.fail(bench.take()[-1])
        while not bench.posts:
            bench.advance(1)
    rests = [(later - earlier) // 1_000_000 for earlier, later in pairwise(moments)]
    assert rests == [1, 2, 5]


def test_messages_that_were_sent_are_kept_while_the_peer_cannot_be_reached() -> None:
    """Many urgent messages do not keep those from going that have lower numbers."""
    bench = two_sent()
    bench.put(*(f"urgent {each}" for each in range(300)), priority=7)
    bench.fail(bench.take()[0])
    bench.advance(1)
    assert bench.words == ["b"]


def test_a_paused_queue_sends_nothing_not_even_the_end_of_a_sequence() -> None:
    bench = two_sent()
    bench.ask(PauseQueue(0, SHOP))
    assert bench.hung_up
    bench.forget()
    bench.advance(1000)
    assert bench.posts == []
    bench.ask(ResumeQueue(0, SHOP))
    assert bench.numbers == [2]


def test_a_sequence_that_ends_waits_while_its_queue_is_paused() -> None:
    bench = two_sent()
    bench.acknowledge((1, 2))
    bench.advance(300)
    assert bench.kinds() == ["CloseSequence"]
    bench.ask(PauseQueue(0, SHOP))
    bench.forget()
    bench.advance(1000)
    assert bench.posts == []
    bench.ask(ResumeQueue(0, SHOP))
    bench.advance(2)
    assert bench.kinds() == ["CloseSequence"]


def test_offline_nothing_is_sent_and_nothing_is_waited_for() -> None:
    bench = two_sent()
    bench.acknowledge((1, 1))
    bench.ask(TakeOffline(0))
    bench.put("c")
    bench.advance(100)
    assert bench.posts == []
    bench.ask(BringOnline(0))
    bench.advance(2)
    assert sorted(bench.numbers) == [2, 3]


def test_messages_that_came_while_offline_begin_a_sequence() -> None:
    bench = SourceBench()
    bench.put("a")
    bench.open()
    bench.acknowledge((1, 1))
    bench.ask(TakeOffline(0))
    bench.put("b")
    bench.ask(BringOnline(0))
    assert bench.words == ["b"]


def test_an_idle_sequence_ends_and_its_session_closes() -> None:
    bench = two_sent()
    bench.acknowledge((1, 2))
    bench.advance(299)
    assert bench.kinds() == []
    bench.advance(1)
    post = bench.take()[-1]
    bench.answer(post, closed(post, bench, (1, 2)))
    post = bench.take()[-1]
    bench.answer(post, terminated(post, bench))
    assert bench.link().state is OutgoingState.DISCONNECTED
    assert bench.wsrm.source.sessions == {}
    assert bench.hung_up
    bench.put("c")
    assert bench.kinds() == ["CreateSequence"]


def test_messages_for_a_lost_client_are_refused() -> None:
    bench = SourceBench()
    bench.put("reply", to=offered_name("urn:uuid:gone", ""), negative_journaling=True)
    assert bench.posts == []
    dead = bench.queue("system$;deadletter").order.first()
    assert dead is not None
    assert dead.reason is MessageClass.NACK_BAD_DEST_QUEUE


def test_a_client_that_listens_gets_a_new_sequence_after_the_end_of_its_own() -> None:
    bench = SourceBench()
    bench.put("reply", to=offered_name("urn:uuid:gone", "http://client.example/cb"))
    assert bench.kinds() == ["CreateSequence"]
    assert bench.posts[0].url == "http://client.example/cb"


@pytest.mark.parametrize("status", [202, 500])
def test_a_late_answer_of_another_epoch_changes_nothing(status: int) -> None:
    bench = two_sent()
    [post] = bench.take()
    bench.fail(post)
    bench.advance(1)
    ticket = bench.sequence.flights[2].ticket
    bench.answer(post, status=status)
    assert bench.sequence.flights[2].ticket == ticket


def test_a_sequence_that_ends_while_offline_is_followed_by_another() -> None:
    bench = SourceBench()
    bench.put("a", "b", "c")
    bench.open()
    bench.acknowledge((1, 1), buffer=8)
    bench.ask(TakeOffline(0))
    bench.acknowledge((1, 2), final=True)
    assert bench.posts == []
    bench.ask(BringOnline(0))
    bench.advance(2)
    assert sorted(bench.kinds()) == ["CreateSequence", "TerminateSequence"]


def test_a_sequence_with_messages_is_not_idle_while_its_peer_cannot_be_reached() -> None:
    bench = SourceBench(settings=WsrmSettings(idle=seconds(3)))
    bench.put("a", "b")
    bench.open()
    bench.acknowledge((1, 1))
    for _ in range(6):
        bench.fail(bench.take()[0])
        while not bench.posts:
            bench.advance(1)
        assert bench.numbers == [2]
