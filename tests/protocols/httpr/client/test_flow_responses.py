"""Tests what responses to PUSH, PULL and EXCHANGE mean for the batches that are in doubt."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.client.phases import Phase
from reliquary.protocols.httpr.codec.values import (
    Capabilities,
    Command,
    Outcome,
    ResponseHeader,
    SessionMark,
)
from reliquary.protocols.httpr.effects import HangUp, SendRequest
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from tests.protocols.httpr.far_server import AGENT, ORDERS, ClientBench, Far

GRI, PUSH, PULL, EXCHANGE, REPORT = Command
COMMIT, ROLLBACK, INDOUBT = Outcome
ONE_EACH = (("maximum_batch_size", "1"), ("maximum_pipeline_depth", "3"))


def pipelined() -> tuple[ClientBench, Far, list[SendRequest]]:
    """Return a bench with three batches of one message on the way."""
    bench, far = ClientBench(), Far(capabilities=ONE_EACH)
    bench.send(ORDERS, b"a", b"b", b"c", b"d")
    assert len(bench.unanswered) == 1  # HR-034: not before there is a session
    bench.answer(far)
    pushes = [bench.next_request() for _ in range(3)]
    assert not bench.unanswered  # HR-044
    assert bench.channel().in_doubt == (1, 2, 3)
    return bench, far, pushes


def says(
    outcome: Outcome | None, completed: int | None, session: SessionMark | None = None
) -> ResponseHeader:
    return ResponseHeader(outcome=outcome, completed=completed, session=session)


@pytest.mark.spec("HR-027", "HR-034", "HR-044")
@pytest.mark.httpr("T28")
def test_requests_are_pipelined_in_a_session_and_to_the_depth_that_was_agreed() -> None:
    bench, far, pushes = pipelined()
    bench.respond(pushes[0], far.take(pushes[0])[0])
    assert bench.next_request().header.transaction_id == 4
    assert not bench.unanswered


@pytest.mark.spec("HR-015", "HR-069", "HR-126", "HR-127")
@pytest.mark.httpr("T22")
def test_a_later_outcome_commits_the_earlier_batches_too() -> None:
    bench, _, pushes = pipelined()
    bench.respond(pushes[0], says(None, None))
    bench.respond(pushes[1], says(None, None))
    assert bench.channel().in_doubt == (1, 2, 3)
    assert not bench.unanswered  # no request is outstanding but one, and three batches are in doubt
    bench.respond(pushes[2], says(COMMIT, 3))
    assert bench.channel().in_doubt == (4,)
    assert bench.link().delivered == 3


@pytest.mark.spec("HR-020", "HR-067")
def test_a_report_follows_when_all_is_answered_and_a_batch_is_in_doubt() -> None:
    bench, far, pushes = pipelined()
    for push in pushes:
        far.take(push)
    bench.respond(pushes[0], says(COMMIT, 1))
    last = bench.next_request()
    far.take(last)
    for push in (*pushes[1:], last):
        bench.respond(push, says(None, None))
    assert bench.answer(far).header.command is REPORT
    assert bench.channel().in_doubt == ()
    assert far.stored == [b"a", b"b", b"c", b"d"]


@pytest.mark.spec("HR-053", "HR-062")
def test_a_missing_outcome_is_requested_at_once_without_pipelining() -> None:
    settings = HttprSettings(peers=(Peer(responder=AGENT, sessions=False),))
    bench, far = ClientBench(settings=settings), Far(sessions=False)
    bench.send(ORDERS, b"a")
    push = bench.next_request()
    bench.respond(push, says(None, None))
    report = bench.answer(far)
    assert (report.header.command, report.header.last_pushed_id) == (REPORT, 1)
    bench.talk(far)
    assert far.stored == [b"a"]
    assert bench.requests[-1].header.transaction_id == 2


@pytest.mark.spec("HR-053")
@pytest.mark.httpr("T23")
def test_a_rollback_returns_the_batches_behind_it_and_later_responses_are_ignored() -> None:
    bench, far, pushes = pipelined()
    far.take(pushes[0])
    bench.respond(pushes[0], says(None, None))
    bench.respond(pushes[1], says(ROLLBACK, 2, SessionMark.END))
    assert bench.channel().in_doubt == ()
    assert HangUp(1, 1) in bench.out
    bench.respond(pushes[2], says(COMMIT, 3))
    bench.advance(1)
    bench.talk(far)
    assert far.stored == [b"a", b"b", b"c", b"d"]


@pytest.mark.spec("HR-053")
def test_a_rollback_in_a_session_that_goes_on_leaves_open_what_is_behind_it() -> None:
    """A careless server takes the third batch although it rolled the second one back."""
    bench, far, pushes = pipelined()
    bench.respond(pushes[0], far.take(pushes[0])[0])
    bench.respond(pushes[1], says(ROLLBACK, 2))
    assert bench.channel().in_doubt == (3, 4)
    far.take(pushes[2])
    bench.heard_of = len(bench.requests)
    bench.advance(1)
    bench.talk(far)
    assert sorted(far.stored) == [b"a", b"b", b"c", b"d"]


@pytest.mark.spec("HR-068", "HR-077", "HR-078")
@pytest.mark.httpr("T19")
def test_a_server_that_is_not_sure_is_asked_until_it_is() -> None:
    bench, far, pushes = pipelined()
    far.take(pushes[0])
    bench.respond(pushes[0], says(INDOUBT, 1, SessionMark.END))
    assert bench.channel().in_doubt == (1, 2, 3)
    bench.respond(pushes[1], says(COMMIT, 2))  # ignored from here on
    assert bench.channel().in_doubt == (1, 2, 3)
    bench.advance(1)
    bench.answer(far)
    report = bench.next_request()
    assert report.header.command is REPORT
    bench.respond(report, ResponseHeader(outcome=INDOUBT, completed=1, last_pulled_id=0))
    assert bench.client_channel().phase is Phase.RESTING
    bench.advance(2)
    bench.answer(far)
    assert bench.answer(far).header.command is REPORT
    bench.talk(far)
    assert far.stored == [b"a", b"b", b"c", b"d"]


@pytest.mark.spec("HR-025")
def test_a_session_that_its_server_ends_is_followed_by_another() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    push = bench.next_request()
    far.take(push)
    bench.respond(push, says(COMMIT, 1, SessionMark.END))
    assert bench.client_channel().phase is Phase.CLOSED
    bench.send(ORDERS, b"b")
    assert [each.header.command for each in bench.talk(far)] == [GRI, PUSH]  # nothing was unknown


@pytest.mark.spec("HR-128", "HR-039")
def test_a_server_without_sessions_lowers_what_it_takes_in_its_responses() -> None:
    settings = HttprSettings(peers=(Peer(responder=AGENT, sessions=False),))
    bench = ClientBench(settings=settings)
    bench.send(ORDERS, *[b"x"] * 30)
    first = bench.next_request()
    assert len(first.batch) == Capabilities().maximum_batch_size
    less = (("maximum_batch_size", "3"),)
    bench.respond(first, ResponseHeader(outcome=COMMIT, completed=1, responder=AGENT, capabilities=less))
    assert len(bench.next_request().batch) == 3


@pytest.mark.spec("HR-037")
def test_a_server_that_grants_more_than_was_proposed_is_left_alone() -> None:
    settings = HttprSettings(peers=(Peer(responder=AGENT, sessions=False),))
    bench = ClientBench(settings=settings)
    bench.send(ORDERS, b"a")
    more = (("maximum_batch_size", "3000"),)
    bench.respond(
        bench.next_request(), ResponseHeader(outcome=COMMIT, completed=1, responder=AGENT, capabilities=more)
    )
    assert bench.client_channel().phase is Phase.RESTING
    assert [each.what for each in bench.warnings] == ["a channel waits for an administrator"]
