"""Tests errors of servers and lost responses.

A retry at once, after a pause, or after help of an administrator.
"""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.client.phases import Phase
from reliquary.protocols.httpr.client.reactions import REACTIONS, UNSENT, Reaction
from reliquary.protocols.httpr.codec.values import (
    Command,
    Error,
    ErrorNumber,
    Outcome,
    ResponseHeader,
    SessionMark,
)
from reliquary.protocols.httpr.events import Failure
from reliquary.protocols.httpr.settings import HttprSettings, Peer
from tests.protocols.httpr.far_server import AGENT, ORDERS, ClientBench, Far

DEAD = "system$;deadletter"
GRI, PUSH, PULL, EXCHANGE, REPORT = Command


def refused(number: ErrorNumber, batch: int | None = None) -> ResponseHeader:
    return ResponseHeader(
        session=SessionMark.END,
        error=Error.of(number),
        outcome=None if batch is None else Outcome.ROLLBACK,
        completed=batch,
    )


def pushing(*bodies: bytes) -> tuple[ClientBench, Far]:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, *bodies)
    bench.answer(far)
    return bench, far


@pytest.mark.spec("HR-083", "HR-084")
@pytest.mark.httpr("T34")
@pytest.mark.parametrize("number", ErrorNumber)
def test_no_error_loses_a_message_that_can_still_be_sent(number: ErrorNumber) -> None:
    bench, far = pushing(b"a")
    bench.respond(bench.next_request(), refused(number, 1))
    bench.advance(60)
    bench.talk(far)
    found = REACTIONS[number] is Reaction.SUSPECT and number is not ErrorNumber.SINK_NOT_KNOWN
    assert far.stored == ([] if found else [b"a"])
    assert bench.link().refused == (1 if found else 0)


@pytest.mark.parametrize("number", [each for each in ErrorNumber if REACTIONS[each] is Reaction.WAIT])
def test_an_error_that_needs_an_administrator_is_logged_and_causes_a_long_pause(number: ErrorNumber) -> None:
    bench, far = pushing(b"a")
    bench.respond(bench.next_request(), refused(number, 1))
    assert [each.what for each in bench.warnings] == ["a channel waits for an administrator"]
    assert str(int(number)) in bench.warnings[0].why
    bench.advance(59)
    assert not bench.unanswered
    bench.advance(1)
    bench.talk(far)
    assert far.stored == [b"a"]


@pytest.mark.spec("HR-028", "HR-029", "HR-031")
@pytest.mark.httpr("T27")
def test_an_unknown_session_is_followed_by_a_new_one_at_once() -> None:
    bench, far = pushing(b"a")
    bench.respond(bench.next_request(), refused(ErrorNumber.SESSION_IDENTIFIER_NOT_RECOGNISED))
    assert bench.channel().in_doubt == (1,)
    assert [each.header.command for each in bench.talk(far)] == [GRI, REPORT, PUSH]
    assert far.stored == [b"a"]


def test_immediate_retries_are_limited() -> None:
    bench, far = pushing(b"a")
    bench.respond(bench.next_request(), refused(ErrorNumber.SESSION_IDENTIFIER_NOT_RECOGNISED))
    bench.answer(far)
    bench.respond(bench.next_request(), refused(ErrorNumber.SESSION_IDENTIFIER_NOT_RECOGNISED))
    assert bench.client_channel().phase is Phase.RESTING


def test_each_failure_in_a_row_makes_the_rest_longer_and_a_success_makes_it_short() -> None:
    bench, far = pushing(b"a")
    far.error = ErrorNumber.RESOURCE_MANAGER_CAN_NOT_STORE
    moments = []
    for _ in range(6):
        bench.talk(far)
        start = bench.now
        while not bench.unanswered:
            bench.advance(1)
        moments.append((bench.now - start) // 1_000_000)
    assert moments == [1, 2, 5, 15, 60, 60]
    far.error = None
    bench.talk(far)
    assert far.stored == [b"a"]
    assert bench.client_channel().retry.failures == 0


@pytest.mark.httpr("T46")
@pytest.mark.parametrize("failure", [each for each in Failure if each not in UNSENT])
def test_the_outcome_of_every_lost_response_is_requested(failure: Failure) -> None:
    bench, far = pushing(b"a")
    push = bench.next_request()
    far.take(push)
    bench.fail(push, failure)
    assert bench.channel().in_doubt == (1,)
    bench.advance(1)
    bench.talk(far)
    assert bench.channel().in_doubt == ()
    assert far.stored == [b"a"]


@pytest.mark.spec("HR-053")
@pytest.mark.parametrize("failure", sorted(UNSENT, key=str))
def test_an_unsent_batch_is_not_in_doubt(failure: Failure) -> None:
    bench, far = pushing(b"a", b"b")
    bench.fail(bench.next_request(), failure)
    assert bench.channel().in_doubt == ()
    bench.advance(1)
    bench.talk(far)
    assert bench.requests[-1].header.transaction_id == 2
    assert far.stored == [b"a", b"b"]


@pytest.mark.spec("HR-030")
def test_a_connection_that_broke_is_made_anew_at_once_but_only_once() -> None:
    bench, _ = pushing(b"a")
    bench.fail(bench.next_request())
    assert bench.next_request().header.command is GRI
    bench.fail(bench.requests[-1])
    assert bench.client_channel().phase is Phase.RESTING


@pytest.mark.spec("HR-022")
@pytest.mark.httpr("T45")
@pytest.mark.parametrize("sessions", [False, True])
def test_a_server_in_doubt_about_a_batch_that_we_never_saw_is_notified(sessions: bool) -> None:
    settings = HttprSettings(peers=(Peer(responder=AGENT, pull=True, sessions=sessions),))
    bench, far = ClientBench(settings=settings), Far()
    if sessions:
        bench.answer(far)
    for number in (1, 2):
        pull = bench.next_request()
        assert pull.header.command is PULL
        bench.respond(pull, refused(ErrorNumber.MAXIMUM_PIPELINE_DEPTH_EXCEEDED))
        bench.advance(number)
        if sessions:
            bench.answer(far)
        assert bench.next_request().header.command is REPORT
        bench.respond(bench.requests[-1], far.take(bench.requests[-1])[0])


# -- messages that are refused


@pytest.mark.httpr("T34", "T36")
@pytest.mark.parametrize("place", [0, 1, 6, 9])
def test_the_message_that_is_refused_is_found_and_the_others_arrive(place: int) -> None:
    bodies = [b"%d" % each for each in range(10)]
    bench, far = ClientBench(), Far(refused=frozenset({bodies[place]}))
    bench.send(ORDERS, *bodies, negative_journaling=True)
    bench.talk(far)
    good = [body for body in bodies if body != bodies[place]]
    assert far.stored == good
    assert bench.link().refused == 1
    assert bench.client_channel().refusals.search is None
    assert len([each for each in bench.requests if each.header.command is PUSH]) <= 9


def test_several_refused_messages_are_found_one_after_another() -> None:
    bodies = [b"%d" % each for each in range(20)]
    far = Far(refused=frozenset({b"3", b"4", b"19"}))
    bench = ClientBench()
    bench.send(ORDERS, *bodies)
    bench.talk(far)
    assert far.stored == [body for body in bodies if body not in far.refused]
    assert bench.link().refused == 3


def test_a_message_that_was_refused_while_its_outcome_was_lost_is_not_sent_again() -> None:
    bench, far = pushing(b"a")
    bench.respond(bench.next_request(), refused(ErrorNumber.USERID_SECURITY))  # without a pair
    bench.talk(far)  # REPORT: it was not taken
    assert far.stored == []
    assert bench.link().refused == 1
    assert PUSH not in bench.commands()[3:]


@pytest.mark.spec("HR-045")
@pytest.mark.httpr("T45")
def test_a_server_that_takes_less_at_a_time_gets_less() -> None:
    bench, far = ClientBench(), Far(capabilities=(("maximum_batch_size", "1"),))
    bench.send(ORDERS, b"a", b"b", b"c")
    bench.answer(far)
    assert len(bench.unanswered) == 3
    bench.respond(bench.next_request(), refused(ErrorNumber.MAXIMUM_PIPELINE_DEPTH_EXCEEDED, 1))
    bench.heard_of = len(bench.requests) - 1
    bench.answer(far)
    assert len(bench.unanswered) == 1
    bench.talk(far)
    assert far.stored == [b"a", b"b", b"c"]


def test_a_server_that_takes_smaller_batches_gets_them() -> None:
    bench, far = pushing(*[b"%d" % each for each in range(8)])
    bench.respond(bench.next_request(), refused(ErrorNumber.MAXIMUM_BATCH_SIZE_EXCEEDED, 1))
    bench.answer(far)
    assert [len(each.batch) for each in bench.unanswered] == [4, 4]
    bench.talk(far)
    assert far.stored == [b"%d" % each for each in range(8)]


# -- a queue that the peer does not have


def test_messages_go_again_to_a_queue_that_may_be_made_soon_and_others_go_on() -> None:
    bench, far = pushing(b"a")
    bench.respond(bench.next_request(), refused(ErrorNumber.SINK_NOT_KNOWN, 1))
    assert bench.bodies(DEAD) == []
    bench.advance(59)
    assert far.stored == []
    bench.advance(1)
    bench.talk(far)
    assert far.stored == [b"a"]
    assert (bench.link().refused, bench.client_channel().refusals.missing) == (0, {})


def test_retries_for_a_missing_queue_are_limited() -> None:
    bench, far = pushing(b"a", b"b")
    far.refused, far.refusal = frozenset({b"a", b"b"}), ErrorNumber.SINK_NOT_KNOWN
    for _ in range(14):
        bench.talk(far)
        bench.advance(60)
    assert far.stored == []
    assert sorted(bench.bodies(DEAD)) == [b"a", b"b"]
    assert bench.link().refused == 2
