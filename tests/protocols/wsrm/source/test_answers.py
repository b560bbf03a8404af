"""Tests what a response means beyond its envelope."""

from __future__ import annotations

import pytest

from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.values import Envelope, Fault
from reliquary.protocols.wsrm.source.answers import BY_HUNDRED, GATEWAYS, Reaction, reaction_to
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingState
from reliquary.queueing.travel.failures import FAILED_WITH, Failure
from tests.protocols.wsrm.source.source_bench import FIRST, SourceBench


def one_sent() -> SourceBench:
    bench = SourceBench()
    bench.put("a")
    bench.open()
    return bench


def test_every_status_has_its_reaction() -> None:
    assert set(BY_HUNDRED) == set(range(6))


def test_a_gateway_that_cannot_reach_the_peer_is_no_answer_of_the_peer() -> None:
    for status in range(1000):
        with_envelope, without = (reaction_to(status, has_envelope=each) for each in (True, False))
        assert (without is Reaction.UNREACHABLE) is (status < 100 or status in GATEWAYS)
        assert (without is Reaction.TAKEN) is (200 <= status < 300)
        assert with_envelope is (Reaction.NOT_TAKEN if status in GATEWAYS else without)


@pytest.mark.parametrize("failure", Failure)
def test_a_failure_is_in_the_history_of_connections(failure: Failure) -> None:
    bench = one_sent()
    bench.fail(bench.posts[0], failure)
    assert bench.link().history[-1].status is FAILED_WITH[failure]
    assert bench.link().state is OutgoingState.INACTIVE


@pytest.mark.parametrize("status", sorted(GATEWAYS))
def test_a_gateway_lets_the_queue_rest(status: int) -> None:
    bench = one_sent()
    bench.answer(bench.take()[0], status=status)
    assert bench.link().history[-1].status is ConnectionStatus.CONNECTION_REFUSED
    bench.advance(1)
    assert bench.numbers == [1]
    assert bench.sequence.flights[1].retries == 0


@pytest.mark.parametrize("status", [200, 202])
def test_a_response_without_an_envelope_is_normal(status: int) -> None:
    bench = one_sent()
    bench.answer(bench.take()[0], status=status)
    assert bench.link().state is OutgoingState.CONNECTED
    assert bench.warnings == []
    bench.hear((1, 1))
    assert bench.waiting() == 0


@pytest.mark.parametrize("status", [301, 400, 404, 500])
def test_another_status_is_an_answer_without_an_acknowledgement(status: int) -> None:
    bench = one_sent()
    bench.answer(bench.take()[0], status=status)
    assert bench.link().state is OutgoingState.CONNECTED
    assert bench.warnings[-1].why == f"the status is {status}"
    bench.advance(2)
    assert bench.numbers == [1]


def test_a_fault_that_comes_with_an_acknowledgement_is_no_loss() -> None:
    """A peer may answer a duplicate with a fault; its acknowledgement counts nevertheless."""
    bench = one_sent()
    said = bench.acknowledgement((1, 1))
    [post] = bench.take()
    fields = {name: getattr(said, name) for name in said.__struct_fields__}
    body = Fault(FaultCode.SENDER, identifier=FIRST)
    bench.answer(post, Envelope(**fields | {"body": body}), 500)
    assert bench.waiting() == 0


def test_an_answer_to_what_is_acknowledged_already_changes_nothing() -> None:
    bench = one_sent()
    [post] = bench.take()
    bench.hear((1, 1))
    bench.answer(post)
    assert bench.posts == []
    assert not bench.sequence.deadline
