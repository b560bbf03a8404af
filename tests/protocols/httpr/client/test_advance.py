"""Tests which request the client sends next: the flows of chapter 4, and restarts at every step."""

from __future__ import annotations

import pytest

from reliquary.base.time import seconds
from reliquary.protocols.httpr.client.phases import Phase
from reliquary.protocols.httpr.codec.values import Command, Outcome, ResponseHeader, SessionMark
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from reliquary.queueing.model.events import TakeOffline
from tests.protocols.httpr.far_server import AGENT, HERE, ORDERS, ClientBench, Far

GRI, PUSH, PULL, EXCHANGE, REPORT = Command


BATCHES_OF_TWO = (("maximum_batch_size", "2"), ("maximum_pipeline_depth", "1"))


SESSIONLESS = HttprSettings(peers=(Peer(responder=AGENT, sessions=False),))


FETCHES = HttprSettings(peers=(Peer(responder=AGENT, pull=True),))


EXCHANGES = HttprSettings(peers=(Peer(responder=AGENT, pull=True, exchange=True, channel="primary"),))


def rest_of(bench: ClientBench, far: Far) -> None:
    """Let time pass until nothing is left to do."""
    for _ in range(12):
        bench.talk(far, 40)
        bench.advance(5)


def _pair(answered: tuple[ResponseHeader, tuple[object, ...]]) -> tuple[ResponseHeader]:
    return (answered[0],)


@pytest.mark.spec("HR-051", "HR-054", "HR-061", "HR-062", "HR-101")
@pytest.mark.httpr("F1", "T07", "T11")
def test_messages_are_pushed_without_a_session() -> None:
    bench, far = ClientBench(settings=SESSIONLESS), Far(sessions=False)
    bench.send(ORDERS, *[b"%d" % each for each in range(12)])
    first = bench.next_request()
    assert first.header.command is PUSH
    assert (first.header.requester, first.header.channel, first.header.responder) == (HERE, "orders", AGENT)
    assert (first.header.session_id, first.header.transaction_id) == ("", 1)
    assert first.header.agent_type == "Reliquary.QueueManager"
    assert len(first.batch) == 10  # the defaults hold until a response was seen
    assert not bench.unanswered  # one after another
    assert bench.channel().in_doubt == (1,)
    bench.respond(first, *_pair(far.take(first)))
    second = bench.answer(far)
    assert (second.header.transaction_id, second.header.agent_type) == (2, "")
    assert (bench.channel().in_doubt, bench.channel().last_source_id) == ((), 2)
    assert far.stored == [b"%d" % each for each in range(12)]
    bench.advance(301)
    last = bench.answer(far)
    assert (last.header.command, last.header.forget, last.header.last_pushed_id) == (REPORT, 2, 2)
    assert last.header.session is None
    assert bench.channel().source_forgotten
    assert far.received == (Outcome.COMMIT, 0)


@pytest.mark.spec("HR-025", "HR-033", "HR-036", "HR-016", "HR-032", "HR-075")
@pytest.mark.httpr("F2", "T11", "T25")
def test_messages_are_pushed_in_a_session() -> None:
    settings = HttprSettings(forget_after=seconds(20))
    bench, far = ClientBench(settings=settings), Far(capabilities=BATCHES_OF_TWO)
    bench.send(ORDERS, b"a", b"b", b"c")
    reported = bench.talk(far)
    assert [each.header.command for each in reported] == [GRI, PUSH, PUSH]
    greeting = reported[0].header
    assert (greeting.session, greeting.session_id) == (SessionMark.BEGIN, "")
    assert greeting.capabilities == settings.proposed
    assert [each.header.session_id for each in reported[1:]] == ["1", "1"]
    assert [each.header.requester for each in reported[1:]] == ["", ""]
    bench.advance(21)
    (last,) = bench.talk(far)
    assert (last.header.session, last.header.forget) == (SessionMark.END, 2)
    assert bench.client_channel().phase is Phase.CLOSED
    bench.advance(1000)
    assert not bench.unanswered  # all is forgotten: nothing more to say
    bench.send(ORDERS, b"d")
    bench.talk(far)
    assert bench.requests[-1].header.transaction_id == 3  # ids grow for ever (HR-102)
    assert far.stored == [b"a", b"b", b"c", b"d"]


@pytest.mark.spec("HR-020", "HR-125")
@pytest.mark.httpr("F3", "T08", "T10", "T29", "T46")
@pytest.mark.parametrize("crash", [False, True])
def test_a_lost_response_is_found_out_in_a_new_session(crash: bool) -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    push = bench.next_request()
    far.take(push)  # stored, and its answer is lost
    if crash:
        bench.restart()
    else:
        bench.fail(push)
        bench.send(ORDERS, b"b")
    greeting = bench.answer(far)
    assert greeting.header.command is GRI
    assert bench.channel().in_doubt in ((), (2,))  # the answer named it: committed
    bench.talk(far)
    assert far.stored[0] == b"a"
    assert far.stored.count(b"a") == 1


@pytest.mark.spec("HR-053")
@pytest.mark.httpr("F4")
def test_rolled_back_messages_are_sent_again_under_a_new_id_in_the_session() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    push = bench.next_request()
    bench.respond(push, ResponseHeader(outcome=Outcome.ROLLBACK, completed=1))
    assert bench.channel().in_doubt == ()
    assert not bench.unanswered  # a peer without room now still has none a moment later
    bench.advance(1)
    again = bench.next_request()
    assert (again.header.session_id, again.header.transaction_id, again.epoch) == ("1", 2, push.epoch)
    assert [each.body for each in again.batch] == [b"a"]


@pytest.mark.spec("HR-070", "HR-105", "HR-074")
@pytest.mark.httpr("F5", "T20")
def test_messages_are_pulled_in_a_session() -> None:
    bench, far = ClientBench(settings=FETCHES), Far()
    far.offer(b"a")
    bench.answer(far)
    first = bench.answer(far)
    assert (first.header.command, first.header.completed, first.header.outcome) == (PULL, 0, Outcome.COMMIT)
    assert bench.bodies() == [b"a"]
    far.offer(b"b")
    second = bench.answer(far)
    assert (second.header.command, second.header.completed) == (PULL, 1)
    assert far.in_doubt == {2: [b"b"]}
    bench.ask(TakeOffline(0))  # decides to stop
    bench.talk(far)
    assert bench.requests[-1].header.completed == 2
    assert far.in_doubt == {}
    assert bench.bodies() == [b"a", b"b"]


@pytest.mark.spec("HR-022", "HR-023", "HR-058", "HR-081")
@pytest.mark.httpr("F6", "T17")
def test_a_lost_pull_response_is_found_out_and_its_messages_come_again() -> None:
    bench, far = ClientBench(settings=FETCHES), Far()
    far.offer(b"a")
    bench.answer(far)
    bench.answer(far)
    far.offer(b"b")
    lost = bench.next_request()
    far.take(lost)
    assert far.in_doubt == {2: [b"b"]}
    bench.heard_of = len(bench.requests)  # nothing of the old connection is answered any more
    bench.fail(lost)
    reported = [bench.answer(far) for _ in range(3)]
    assert [each.header.command for each in reported] == [GRI, REPORT, PULL]
    assert (reported[1].header.completed, reported[1].header.last_pushed_id) == (1, 0)
    assert bench.channel().last_sent_id == 2
    assert bench.channel().last_received_id == 3
    assert bench.bodies() == [b"a", b"b"]


@pytest.mark.spec("HR-015", "HR-044", "HR-047")
@pytest.mark.httpr("F7")
def test_pull_is_pipelined_while_it_brings_something() -> None:
    small = (("maximum_batch_size", "1"), ("maximum_pipeline_depth", "3"))
    bench, far = ClientBench(settings=FETCHES), Far(capabilities=small)
    far.offer(b"a", b"b", b"c", b"d")
    bench.answer(far)
    assert len(bench.unanswered) == 1  # it is not known yet whether there are messages
    bench.answer(far)
    assert [each.header.completed for each in bench.unanswered] == [1, 1, 1]
    bench.answer(far)
    assert [each.header.completed for each in bench.unanswered] == [1, 1, 2]
    reported = bench.talk(far)
    assert bench.bodies() == [b"a", b"b", b"c", b"d"]
    assert reported[-1].header.completed == 4
    assert far.in_doubt == {}


@pytest.mark.spec("HR-060", "HR-072")
@pytest.mark.httpr("F8", "T21")
def test_exchange_brings_and_fetches() -> None:
    bench, far = ClientBench(settings=EXCHANGES), Far(capabilities=(("maximum_pipeline_depth", "1"),))
    far.last_source = 100
    bench.send(ORDERS, b"1")
    far.offer(b"a")
    bench.answer(far)
    first = bench.answer(far)
    assert (first.header.command, first.header.transaction_id) in ((PULL, None), (EXCHANGE, 1))
    bench.talk(far, 5)
    bench.send(ORDERS, b"2")
    far.offer(b"b")
    bench.advance(1)
    reported = bench.talk(far, 5)
    exchanges = [each.header for each in bench.requests if each.header.command is EXCHANGE]
    assert [each.transaction_id for each in exchanges] == [1, 2]
    assert all(each.completed is not None for each in exchanges)
    assert far.stored == [b"1", b"2"]
    assert bench.bodies() == [b"a", b"b"]
    assert reported


@pytest.mark.httpr("F9")
def test_messages_are_pushed_and_pulled_over_one_channel() -> None:
    settings = HttprSettings(peers=(Peer(responder=AGENT, pull=True, channel="primary"),))
    bench, far = ClientBench(settings=settings), Far(capabilities=(("maximum_pipeline_depth", "1"),))
    far.offer(b"a")
    bench.send(ORDERS, b"1")
    bench.talk(far, 6)
    assert (far.stored, bench.bodies(), far.in_doubt) == ([b"1"], [b"a"], {})
    assert bench.channel().name == "primary"
    assert {PUSH, PULL} <= set(bench.commands())


@pytest.mark.spec("HR-031", "HR-050", "HR-052", "HR-102", "HR-103", "HR-104")
@pytest.mark.httpr("T05", "T06", "T09", "T18", "T43")
@pytest.mark.parametrize("misfortune", ["unsent", "unanswered", "unkept", "lost", "lost answer"])
@pytest.mark.parametrize("settings", [HttprSettings(), SESSIONLESS, FETCHES, EXCHANGES],
                         ids=["session", "sessionless", "fetches", "exchanges"])  # fmt: skip
@pytest.mark.parametrize("step", range(9))
def test_messages_arrive_once_and_in_order(misfortune: str, settings: HttprSettings, step: int) -> None:
    sessionless = settings is SESSIONLESS
    small = (("maximum_batch_size", "2"), ("maximum_pipeline_depth", "3"))
    bench, far = ClientBench(settings=settings), Far(sessions=not sessionless, capabilities=small)
    fetched = [b"x", b"y", b"z"] if settings in (FETCHES, EXCHANGES) else []
    bodies = [b"%d" % each for each in range(5)] if settings is not FETCHES else []
    far.offer(*fetched)
    if bodies:
        bench.send(ORDERS, *bodies)
    for _ in range(step):
        if not bench.unanswered:
            bench.advance(1)
        if bench.unanswered:
            bench.answer(far)
    bench.flush()
    if bench.unanswered:
        request = bench.next_request()
        if misfortune in ("unanswered", "unkept", "lost answer"):
            header, batch = far.take(request)
            if misfortune == "unkept":
                left = len(bench.out)
                bench.respond(request, header, *batch)
                del bench.out[left:]  # nothing leaves before its sync
        if misfortune.startswith("lost"):
            bench.heard_of = len(bench.requests)
            bench.fail(request)
        else:
            bench.restart(crash=True)
    rest_of(bench, far)
    assert far.stored == bodies
    assert bench.bodies() == fetched
    assert far.in_doubt == {}
    ids = [each.header.transaction_id for each in bench.requests if each.header.transaction_id is not None]
    assert ids == sorted(ids)
    assert 0 not in ids
    assert all(not channel.in_doubt for channel in bench.httpr.state.channels.values())
