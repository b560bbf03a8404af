"""Sessions are opened, and queues find theirs."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqb.effects import HangUp
from reliquary.protocols.mqqb.events import AddressesFound, Dialled
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.queueing.model.travel.link import ConnectionStatus
from reliquary.queueing.travel.failures import FAILED_WITH, Failure
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, PEER_ADDRESS, MqqbBench, link


def test_a_host_is_dialled_at_its_port() -> None:
    bench = MqqbBench(settings=MqqbSettings(ports={"10.0.0.1": 2801}))
    bench.send(ELSEWHERE, b"a")
    assert [(each.host, each.port) for each in bench.dials] == [("10.0.0.1", 2801)]


@pytest.mark.spec("QB-169")
@pytest.mark.parametrize("failure", list(Failure))
def test_a_failure_is_in_the_history_of_connections(failure: Failure) -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    bench.fail_dial(failure)
    assert link(bench).history[-1].status is FAILED_WITH[failure]


def test_a_connection_that_ends_in_the_handshake_counts_as_refused() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    bench.answer_dial().lose()
    assert link(bench).history[-1].status is ConnectionStatus.CONNECTION_REFUSED


def test_a_dial_without_any_answer_is_given_up() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    bench.advance(61)
    assert bench.mqqb.sessions == {} or len(bench.dials) == 2
    assert len(bench.dials) == 1
    bench.advance(5)
    assert len(bench.dials) == 2


def test_events_for_a_dial_that_was_given_up_are_ignored() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    bench.fail_dial()
    bench.handle(AddressesFound(1, ("10.0.0.1",)))
    bench.handle(Dialled(1, "10.0.0.1"))
    assert bench.mqqb.sessions == {}


def test_nothing_is_dialled_before_the_server_listens() -> None:
    bench = MqqbBench(addressed=False)
    bench.send(ELSEWHERE, b"a")
    assert bench.dials == []
    bench.handle(bench.ADDRESSED)
    assert len(bench.dials) == 1


BY_NAME = r"DIRECT=OS:shop.example\private$\q"


@pytest.mark.spec("QB-271")
@pytest.mark.parametrize("names", [(ELSEWHERE, BY_NAME), (BY_NAME, ELSEWHERE)])
def test_a_name_and_an_address_of_one_peer_have_one_session(names: tuple[str, str]) -> None:
    bench = MqqbBench()
    bench.send(names[0], b"first")
    peer = bench.dialled()
    bench.send(names[1], b"second")
    if names[1] == BY_NAME:
        bench.handle(AddressesFound(2, ("10.0.0.9", PEER_ADDRESS)))
        assert bench.out[-2] == HangUp(2)
    assert list(bench.mqqb.sessions) == [1]
    assert peer.bodies == [b"first", b"second"]
    bench.send(names[1], b"third")
    assert peer.bodies[2:] == [b"third"]
    peer.lose()
    assert (bench.mqqb.sessions, bench.mqqb.by_host) == ({}, {})


def test_names_that_are_dialled_together_join_when_the_address_is_known() -> None:
    bench = MqqbBench()
    bench.send(BY_NAME, b"by name")
    bench.send(ELSEWHERE, b"by address")
    assert len(bench.dials) == 2
    bench.handle(Dialled(1, PEER_ADDRESS))
    assert list(bench.mqqb.sessions) == [2]
    peer = bench.dialled()
    assert sorted(peer.bodies) == [b"by address", b"by name"]


def test_another_port_of_an_address_is_another_peer() -> None:
    bench = MqqbBench(settings=MqqbSettings(ports={"shop.example": 2801}))
    bench.send(ELSEWHERE, b"first")
    bench.dialled()
    bench.send(BY_NAME, b"second")
    bench.handle(AddressesFound(2, (PEER_ADDRESS,)))
    assert list(bench.mqqb.sessions) == [1, 2]
