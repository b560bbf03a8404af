"""Tests the network: the requests that it carries and loses, and the outcomes that its users get."""

from __future__ import annotations

from functools import partial

from reliquary.base.hresult import HResult
from reliquary.base.time import SECOND
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    BrowseMessages,
    CallerGone,
    PurgeQueue,
    ReceiveMessages,
)
from reliquary.sim.network import NOTHING
from reliquary.sim.site_faults import SiteFaults
from tests.sim.simulated_server import SimulatedServer


def test_a_call_is_answered_with_the_turn_that_answered_it() -> None:
    server = SimulatedServer()
    outcome = server.ask(lambda to: BrowseMessages(to, "orders"))
    assert outcome.answer.status is HResult.OK
    assert isinstance(server.history.turns[outcome.turn].event, BrowseMessages)


def test_calls_on_one_line_keep_their_order() -> None:
    server = SimulatedServer()
    server.faults.slowest_network = SECOND
    paths = ("orders", "inbox", "ledger")
    outcomes = [server.call(partial(purge, path)) for path in paths]
    server.until(lambda: all(outcomes))
    events = [each.event for each in server.history.turns if isinstance(each.event, PurgeQueue)]
    assert tuple(event.path for event in events) == paths


def purge(path: str, to: int) -> PurgeQueue:
    return PurgeQueue(to, path)


def test_a_lost_request_never_arrives_and_its_sender_gets_no_outcome() -> None:
    server = SimulatedServer()
    server.faults.request_lost = 1.0
    assert server.ask(lambda to: PurgeQueue(to, "orders")) == NOTHING
    assert "PurgeQueue" not in server.events()


def test_a_lost_answer_gives_its_sender_no_outcome() -> None:
    server = SimulatedServer()
    server.faults.answer_lost = 1.0
    assert server.ask(lambda to: PurgeQueue(to, "orders")) == NOTHING
    assert "PurgeQueue" in server.events()


def test_a_cut_ends_a_wait_and_the_server_mostly_notices_it() -> None:
    server = SimulatedServer()
    server.faults.cut = 1.0
    for _ in range(10):
        assert server.ask(lambda to: ReceiveMessages(to, "orders", timeout=FOREVER_WAIT)) == NOTHING
    server.until(lambda: server.process.idle)
    gone = [each for each in server.history.turns if isinstance(each.event, CallerGone)]
    assert 4 < len(gone) <= 10


def test_a_caller_that_waits_when_the_power_fails_gets_no_outcome() -> None:
    server = SimulatedServer()
    outcomes = server.call(lambda to: ReceiveMessages(to, "orders", timeout=FOREVER_WAIT))
    server.until(lambda: bool(server.process.manager.state.open.callers))
    server.process.cut_power()
    server.until(lambda: bool(outcomes))
    assert outcomes == [NOTHING]


def test_no_answer_comes_while_the_server_is_down() -> None:
    server = SimulatedServer(faults=SiteFaults())
    server.process.cut_power()
    assert server.ask(lambda to: BrowseMessages(to, "orders")) == NOTHING
