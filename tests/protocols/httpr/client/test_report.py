"""What is in doubt is found out: GET-RESPONDER-INFO, REPORT, and the guard that makes it safe."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from reliquary.base.time import SECOND
from reliquary.protocols.httpr import transactions
from reliquary.protocols.httpr.client.phases import Phase
from reliquary.protocols.httpr.codec.values import (
    VERSION,
    Command,
    Error,
    ErrorNumber,
    Outcome,
    ResponseHeader,
    SessionMark,
)
from reliquary.protocols.httpr.settings import PROPOSED, HttprSettings, Peer
from reliquary.protocols.httpr.transactions import FATES, By, Fate
from tests.protocols.httpr.far_server import AGENT, ORDERS, ClientBench, Far

GRI, PUSH, PULL, EXCHANGE, REPORT = Command
FETCHES = HttprSettings(peers=(Peer(responder=AGENT, pull=True),))


def careless() -> Mapping[tuple[By, transactions.Place, Outcome], Fate]:
    """The table as 3.4 has it by the letter: GET-RESPONDER-INFO gives back what it does not name."""
    return {
        (by, place, outcome): FATES[By.REPORT if by is By.INFO_ANSWER else by, place, outcome]
        for by, place, outcome in FATES
    }


@pytest.mark.spec("HR-020", "HR-021", "HR-082", "HR-125")
@pytest.mark.httpr("T14")
@pytest.mark.parametrize("guarded", [True, False])
def test_a_late_request_doubles_messages_only_where_the_greeting_settles_what_it_does_not_name(
    guarded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not guarded:
        monkeypatch.setattr(transactions, "FATES", careless())
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    late = bench.next_request()  # it is still on the way
    bench.fail(late)
    bench.answer(far)  # GET-RESPONDER-INFO: nothing has come
    again = bench.next_request()
    if guarded:
        assert again.header.command is REPORT
        header, _ = far.take(again)  # from now on what comes late is refused
        bench.respond(again, header)
        assert far.take(late)[0].error == Error.of(ErrorNumber.OUT_OF_SEQUENCE_TRANSACTION_DISCARDED)
        bench.talk(far)
        assert far.stored == [b"a"]
    else:
        assert again.header.command is PUSH
        far.take(late)
        far.take(again)
        assert far.stored == [b"a", b"a"]


@pytest.mark.spec("HR-021", "HR-054", "HR-080")
@pytest.mark.httpr("T08")
def test_while_something_is_in_doubt_nothing_else_is_sent() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    bench.fail(bench.next_request())
    bench.answer(far)
    report = bench.next_request()
    assert (report.header.command, report.header.last_pushed_id) == (REPORT, 1)
    bench.send(ORDERS, b"b")
    assert not bench.unanswered
    bench.respond(report, far.take(report)[0])
    bench.talk(far)
    assert far.stored == [b"a", b"b"]


@pytest.mark.spec("HR-026", "HR-065", "HR-034")
@pytest.mark.httpr("T26")
def test_a_server_without_sessions_is_spoken_to_without() -> None:
    bench, far = ClientBench(), Far(sessions=False)
    bench.send(ORDERS, b"a")
    bench.talk(far)
    assert bench.commands() == [GRI, PUSH]
    push = bench.requests[1].header
    assert (push.session_id, push.responder) == ("", AGENT)
    assert push.capabilities is not None
    assert not push.capabilities.sessions
    bench.send(ORDERS, b"b", b"c")
    push = bench.next_request().header
    assert (push.transaction_id, push.session_id) == (2, "")
    assert not bench.unanswered


@pytest.mark.spec("HR-024", "HR-037", "HR-038", "HR-039")
@pytest.mark.httpr("T24")
def test_what_was_agreed_holds_for_one_session() -> None:
    bench, far = ClientBench(), Far(capabilities=(("maximum_batch_size", "5"),))
    bench.send(ORDERS, *[b"x"] * 6)
    bench.answer(far)
    assert [len(each.batch) for each in bench.unanswered] == [5, 1]
    bench.talk(far)
    far.capabilities = (("maximum_batch_size", "3"),)
    bench.advance(100)  # longer than the server keeps an idle session
    bench.send(ORDERS, *[b"y"] * 6)
    assert bench.answer(far).header.capabilities == PROPOSED
    assert [len(each.batch) for each in bench.unanswered] == [3, 3]


@pytest.mark.spec("HR-037")
@pytest.mark.parametrize(
    "answer",
    [
        ResponseHeader(version=VERSION, responder=AGENT, session_id="1", outcome=Outcome.COMMIT, completed=0,
                       capabilities=(("maximum_batch_size", "9999"),)),
        ResponseHeader(version=VERSION, responder=AGENT, outcome=Outcome.COMMIT, completed=0),
        ResponseHeader(version=VERSION, responder=AGENT, session=SessionMark.END),
        ResponseHeader(version=VERSION, responder="httpr://else.example/mq", session_id="1",
                       outcome=Outcome.COMMIT, completed=1),
    ],
    ids=["more than was proposed", "no session", "ended for no reason", "somebody else"],
)  # fmt: skip
def test_a_greeting_that_cannot_be_is_no_greeting(answer: ResponseHeader) -> None:
    bench = ClientBench()
    bench.send(ORDERS, b"a")
    bench.respond(bench.next_request(), answer)
    assert bench.driven().phase is Phase.RESTING
    assert not bench.unanswered
    bench.advance(60)
    assert bench.commands()[1] is GRI


@pytest.mark.spec("HR-089")
def test_the_word_of_another_responder_settles_nothing() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    push = bench.next_request()
    wrong = ResponseHeader(outcome=Outcome.COMMIT, completed=1, responder="httpr://else.example/mq")
    bench.respond(push, wrong)
    assert bench.channel().in_doubt == (1,)
    bench.advance(60)
    bench.talk(far)
    assert far.stored == [b"a"]


@pytest.mark.spec("HR-079")
def test_zeros_let_us_forget_what_came() -> None:
    bench, far = ClientBench(settings=FETCHES), Far()
    far.offer(b"a")
    bench.answer(far)
    bench.answer(far)
    assert bench.channel().last_received_id == 1
    lost = bench.next_request()
    bench.heard_of = len(bench.requests)
    bench.fail(lost)
    bench.answer(far)
    report = bench.next_request()
    bench.respond(report, ResponseHeader(outcome=Outcome.COMMIT, completed=0, last_pulled_id=0))
    assert bench.channel().last_received_id == 0
    pull = bench.next_request()
    assert (pull.header.command, pull.header.completed) == (PULL, 0)


@pytest.mark.spec("HR-053")
def test_a_report_without_an_outcome_tells_nothing() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    bench.fail(bench.next_request())
    bench.answer(far)
    bench.respond(bench.next_request(), ResponseHeader(last_pulled_id=0))
    assert bench.channel().in_doubt == (1,)
    assert bench.driven().phase is Phase.RESTING


@pytest.mark.spec("HR-103")
@pytest.mark.parametrize("sessions", [True, False])
def test_a_server_that_knows_higher_ids_than_we_do_gets_still_higher_ones(sessions: bool) -> None:
    """Our store was lost: what it has not taken is not counted as taken, and no id is used again."""
    settings = HttprSettings(peers=(Peer(responder=AGENT, sessions=sessions),))
    bench, far = ClientBench(settings=settings), Far(sessions=sessions, received=(Outcome.COMMIT, 100))
    bench.send(ORDERS, b"a")
    bench.talk(far)
    assert far.stored == [b"a"]
    assert bench.channel().last_source_id == 101


@pytest.mark.spec("HR-017", "HR-016")
@pytest.mark.httpr("T12")
def test_a_forget_whose_answer_is_lost_is_said_again() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.talk(far)
    bench.advance(301)
    bench.answer(far)
    lost = bench.next_request()
    assert (lost.header.forget, lost.header.session) == (1, SessionMark.END)
    far.take(lost)
    bench.fail(lost)
    bench.advance(10)
    told = bench.talk(far)
    assert told[-1].header.forget == 1
    assert bench.channel().source_forgotten
    bench.advance(1000)
    assert not bench.unanswered


def test_a_channel_that_cannot_be_forgotten_now_is_looked_at_later() -> None:
    bench, _ = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.next_request()  # it has no answer for a very long time
    bench.advance(301)
    assert bench.timers["httpr-forget", 1] - bench.now > 200 * SECOND
    bench.advance(3600)
    assert bench.commands() == [GRI]


def test_an_agent_without_a_host_is_looked_for_where_the_settings_say() -> None:
    nowhere = HttprSettings(peers=(Peer(responder="httpr:/mq", pull=True),))
    bench = ClientBench(settings=nowhere)
    assert not bench.requests
    assert bench.driven().phase is Phase.RESTING
    url = "http://proxy.example/mq"
    there = HttprSettings(peers=(Peer(responder="httpr:/mq", pull=True, url=url),))
    bench = ClientBench(settings=there)
    assert bench.requests[0].url == url
