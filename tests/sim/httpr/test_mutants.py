"""The checkers detect HTTPR that is broken on purpose, within a few dozen seeds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace as replace_faults
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from reliquary.base import rows
from reliquary.base.time import SECOND
from reliquary.base.turn import Reply
from reliquary.engine.core import Batch
from reliquary.protocols.httpr import apply as apply_module
from reliquary.protocols.httpr import facts, machine, recovery
from reliquary.protocols.httpr import transactions as transactions_module
from reliquary.protocols.httpr.client import advance as client_advance
from reliquary.protocols.httpr.client import agent as client_agent
from reliquary.protocols.httpr.client import outcomes as client_outcomes
from reliquary.protocols.httpr.client import pull as client_pull
from reliquary.protocols.httpr.codec.values import Outcome, ResponseHeader
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.protocols.httpr.events import Answer, RequestArrived, RequestBegun, ResponseArrived
from reliquary.protocols.httpr.facts import Side, SideForgotten
from reliquary.protocols.httpr.server import push as server_push
from reliquary.protocols.httpr.server import report as server_report
from reliquary.protocols.httpr.server import responses
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import CHANNELS, channel_key
from reliquary.protocols.httpr.transactions import (
    RESOLUTIONS,
    BatchPosition,
    OutcomeMessage,
    Reception,
    Resolution,
)
from reliquary.queueing import recovery as manager_recovery
from reliquary.queueing.model.travel import transfer
from reliquary.queueing.travel import reservations
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.httpr import plan
from reliquary.sim.httpr.faults import HttprFaults
from reliquary.sim.httpr.network import HttprNetwork
from reliquary.sim.httpr.plugin import HttprPlugin
from reliquary.sim.process import Process
from reliquary.sim.witness import Witness
from reliquary.sim.world.run import simulate
from reliquary.sim.world.witness import SiteWitness
from tests.sim.seeds import find_failure

SEEDS = range(1, 61)
RARE = range(31, 91)
"""The seeds for mutants that one of forty seeds finds; it leaves out seeds that find nothing."""
RULES: dict[Any, Any] = machine._RULES
SIGNAL_RULES: dict[Any, Any] = machine._SIGNAL_RULES
APPLY: dict[Any, Any] = apply_module._APPLY
TABLE: dict[Any, Resolution] = dict(RESOLUTIONS)


def without_sessions(monkeypatch: pytest.MonkeyPatch, faults: HttprFaults) -> None:
    """Draw these faults for all seeds, and no session that could distinguish old requests from new ones."""
    monkeypatch.setattr(HttprFaults, "drawn", lambda _: replace_faults(faults))
    real = plan._capabilities

    def capabilities(*given: Any, **more: Any) -> Any:
        return real(*given, **more | {"sessions": False})

    monkeypatch.setattr(plan, "_capabilities", capabilities)
    monkeypatch.setattr(plan.ExchangeMode, "walled", False)  # there, every agent begins with a session


@pytest.fixture
def late(monkeypatch: pytest.MonkeyPatch) -> None:
    """Draw faults with many requests that are given up and come late."""
    faults = HttprFaults(
        answer_lost=0.2,
        cut=0.1,
        repeated=0.9,
        stalled=0.2,
        late_response=1.0,
        close_unnoticed=0.5,
        latest_repeat=4 * SECOND,
    )
    without_sessions(monkeypatch, faults)


@pytest.fixture
def late_on_old_connections(monkeypatch: pytest.MonkeyPatch, late: None) -> None:
    """Deliver late requests also if the server knows the client: forgotten channels and REPORTs too."""
    real = HttprNetwork._new_number

    def number(network: HttprNetwork, flight: Any, process: Any) -> int:
        known: int = flight.connection.number if flight.connection.process is process else 0
        return known if flight.connection.given_up else real(network, flight, process)

    monkeypatch.setattr(HttprNetwork, "_new_number", number)


def first_failure(process: type[Process] = Process, seeds: range = SEEDS) -> str:
    """Return what the checkers say about the first seed in which they find something."""
    return find_failure(partial(simulate, plugins=[HttprPlugin], process=process), seeds, "httpr")


# -- the order of the world, P1 and P3


class Hasty(Process):
    """Lets effects leave before the disk has their facts."""

    def is_early(self, effect: object) -> bool:
        raise NotImplementedError

    def _settle(self, batch: Batch) -> None:
        early = [effect for effect in batch.after_sync if self.is_early(effect)]
        batch.after_sync = [effect for effect in batch.after_sync if not self.is_early(effect)]
        self._perform(early)
        super()._settle(batch)


class SendsEarly(Hasty):
    """Sends batches before they are in doubt on disk (P1)."""

    def is_early(self, effect: object) -> bool:
        return isinstance(effect, SendRequest)


class AnswersEarly(Hasty):
    """Sends COMMIT before messages are on disk (P3), and batches before they are in doubt on disk (P1)."""

    def is_early(self, effect: object) -> bool:
        return isinstance(effect, Reply) and isinstance(effect.answer, Answer)


@pytest.mark.spec("HR-050", "HR-051", "HR-056")
@pytest.mark.parametrize("process", [SendsEarly, AnswersEarly])
def test_what_leaves_before_its_sync_is_found(process: type[Process]) -> None:
    assert first_failure(process).startswith("visible too early")


@pytest.mark.parametrize("process", [SendsEarly, AnswersEarly])
def test_what_leaves_before_its_sync_is_found_by_what_it_leads_to(
    monkeypatch: pytest.MonkeyPatch, process: type[Process]
) -> None:
    def answered(self: Witness, process_number: int, reply: Any, disk: SimulatedDisk) -> int:
        return self._answers[process_number, reply.to][0]

    monkeypatch.setattr(SiteWitness, "answered", answered)
    monkeypatch.setattr(SiteWitness, "leaves", lambda *_: None)
    failure = first_failure(process)
    assert failure.startswith(("loss", "duplication", "left behind", "order", "Assertion")), failure


def test_a_batch_that_is_sent_without_being_in_doubt_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(apply_module, "_keep", _without_doubt)
    failure = first_failure()
    assert failure.startswith(("duplication", "left behind", "recovery", "loss", "ids")), failure


def _without_doubt(state: State, channel: Any) -> None:
    """Return rows without batches in doubt."""
    state.add(channel)
    row = replace(channel, in_doubt=())
    state.rows.put(CHANNELS, channel_key(channel.number), row)


# -- what an outcome means


def resolutions(monkeypatch: pytest.MonkeyPatch, changes: dict[Any, Resolution]) -> None:
    monkeypatch.setattr(transactions_module, "RESOLUTIONS", TABLE | changes)


@pytest.mark.spec("HR-020")
def test_get_responder_info_that_resolves_like_report_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    # F-02: a batch that is still under way is taken after its messages were sent again
    resolutions(
        monkeypatch, {(OutcomeMessage.INFO_ANSWER, BatchPosition.BEHIND, Outcome.COMMIT): Resolution.RETURNED}
    )
    failure = first_failure()
    assert failure.startswith("duplication"), failure


@pytest.mark.spec("HR-053")
def test_a_rollback_that_counts_as_commit_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    resolutions(
        monkeypatch,
        {(by, BatchPosition.NAMED, Outcome.ROLLBACK): Resolution.COMMITTED for by in OutcomeMessage},
    )
    failure = first_failure()
    assert failure.startswith("loss"), failure


def test_a_commit_that_counts_as_rollback_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    resolutions(
        monkeypatch, {(OutcomeMessage.REPORT, BatchPosition.NAMED, Outcome.COMMIT): Resolution.RETURNED}
    )
    failure = first_failure()
    assert failure.startswith("duplication"), failure


@pytest.mark.spec("HR-020", "HR-022")
def test_a_client_that_does_not_report_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((client_outcomes, "must_report"), (client_advance, "is_in_doubt")):
        monkeypatch.setattr(module, name, lambda *_: False)
    failure = first_failure()
    assert failure.startswith(("left behind", "loss", "duplication", "Assertion")), failure


# -- which batches are taken


def received(monkeypatch: pytest.MonkeyPatch, verdict: Reception) -> None:
    real = transactions_module.reception

    def reception(*arguments: Any) -> Reception:
        found = real(*arguments)
        return Reception.TAKEN if found is verdict else found

    for module in (client_pull, server_push):
        monkeypatch.setattr(module, "reception", reception)


@pytest.mark.spec("HR-055", "HR-081")
@pytest.mark.parametrize("verdict", [Reception.KNOWN, Reception.LATE])
def test_a_batch_that_must_not_be_taken_is_found(monkeypatch: pytest.MonkeyPatch, verdict: Reception) -> None:
    received(monkeypatch, verdict)
    failure = first_failure(seeds=RARE)
    assert failure.startswith("duplication"), failure


@pytest.mark.spec("HR-058", "HR-082")
def test_a_last_id_that_report_does_not_write_down_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def apply(state: State, fact: Any) -> None:
        if not isinstance(fact, facts.PeerReported):
            apply_module.apply(state, fact)

    monkeypatch.setattr(server_report, "apply", apply)
    failure = first_failure()
    assert failure.startswith("visible too early"), failure


def test_a_refused_batch_that_is_called_taken_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = machine._judged

    def judged(state: State, signal: Any, now: Any) -> None:
        real(state, replace(signal, outcome=transfer.Outcome.DELIVERED), now)

    monkeypatch.setitem(SIGNAL_RULES, transfer.BatchJudged, judged)
    failure = first_failure()
    assert failure.startswith("loss"), failure


# -- older connections, and what is forgotten


@pytest.mark.spec("HR-041")
@pytest.mark.httpr("T31", "T44")
def test_messages_that_come_late_on_older_connections_break_no_promise(late_on_old_connections: None) -> None:
    for seed in SEEDS[:12]:
        assert not simulate(seed, [HttprPlugin]).failure, seed


@pytest.mark.spec("HR-041")
def test_older_connections_that_are_still_served_are_found(
    monkeypatch: pytest.MonkeyPatch, late_on_old_connections: None
) -> None:
    for kind in (RequestBegun, RequestArrived):
        monkeypatch.setitem(RULES, kind, heard_again(RULES[kind]))
    failure = first_failure()
    assert failure.startswith(("duplication", "loss", "order", "outcome")), failure


def heard_again(real: Callable[..., None]) -> Callable[..., None]:
    def on_request(state: State, event: Any, now: Any) -> None:
        for channel in state.server.channels.values():
            channel.connection = min(channel.connection, event.connection)
        real(state, event, now)

    return on_request


@pytest.mark.long
@pytest.mark.spec("HR-042", "HR-043")
def test_responses_of_older_connections_that_are_processed_are_found(
    monkeypatch: pytest.MonkeyPatch, late: None
) -> None:
    real = client_agent.on_response

    def on_response(state: State, event: ResponseArrived, now: Any) -> None:
        channel = state.client.channels.get(event.channel)
        if channel is not None and channel.connection.pending:
            event = replace(
                event, epoch=channel.connection.epoch, number=channel.connection.pending[0].number
            )
        real(state, event, now)

    monkeypatch.setitem(RULES, ResponseArrived, on_response)
    failure = first_failure()
    assert failure, failure


@pytest.mark.spec("HR-059")
def test_a_sink_that_forgets_what_is_still_in_doubt_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def forget(state: State, number: int, header: Any) -> None:
        if state.channels[number].last_received_id:
            apply_module.apply(state, SideForgotten(number, Side.SINK))

    monkeypatch.setattr(server_report, "_forget_sink", forget)
    failure = first_failure()
    assert failure.startswith("duplication"), failure


def test_what_comes_late_after_forget_on_a_new_connection_is_beyond_the_protocol(
    monkeypatch: pytest.MonkeyPatch, late: None
) -> None:
    # F-03: this is why the world leaves it out
    monkeypatch.setattr(HttprNetwork, "_may_come_late", lambda *_: True)
    failure = first_failure()
    assert failure.startswith(("duplication", "loss", "order")), failure


@pytest.mark.spec("HR-102", "HR-103")
def test_ids_that_begin_anew_after_forget_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = APPLY[SideForgotten]

    def forget(state: State, fact: SideForgotten) -> None:
        real(state, fact)
        if fact.side is Side.SOURCE:
            apply_module._keep(state, replace(state.channels[fact.channel], last_source_id=0))

    monkeypatch.setitem(APPLY, SideForgotten, forget)
    failure = first_failure()
    assert failure.startswith("ids"), failure


@pytest.mark.spec("HR-052", "HR-053")
def test_a_returned_batch_that_goes_again_under_its_id_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = APPLY[facts.BatchesSettled]

    def settle(state: State, fact: facts.BatchesSettled) -> None:
        real(state, fact)
        channel = state.channels[fact.channel]
        if fact.returned and not channel.in_doubt:
            apply_module._keep(state, replace(channel, last_source_id=min(fact.returned) - 1))

    monkeypatch.setitem(APPLY, facts.BatchesSettled, settle)
    failure = first_failure()
    assert failure.startswith("ids"), failure


# -- answers, holds, order


def test_an_answer_that_is_given_twice_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = responses._agent_type

    def agent_type(state: State, connection: int) -> str:
        for channel in state.server.channels.values():
            for request in channel.requests:
                state.draft.ask(Reply(request.event.to, Answer(ResponseHeader())))
        return real(state, connection)

    monkeypatch.setattr(responses, "_agent_type", agent_type)
    failure = first_failure()
    assert "is answered twice" in failure, failure


def without_holds(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    real = rows.every

    def every(port: rows.Rows, table: Any) -> Any:
        return [] if table.name == name else real(port, table)

    for module in (recovery, manager_recovery):
        monkeypatch.setattr(module, "every", every)


@pytest.mark.parametrize("table", ["holds", "httpr_channels"])
def test_what_a_restart_forgets_is_found(monkeypatch: pytest.MonkeyPatch, table: str) -> None:
    without_holds(monkeypatch, table)
    failure = first_failure()
    expected = ("recovery", "ids", "KeyError", "Assertion", "held", "duplication")
    assert failure.startswith(expected), failure


def test_a_batch_that_is_taken_from_the_wrong_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = reservations._front
    monkeypatch.setattr(reservations, "_front", lambda *arguments: real(*arguments)[::-1])
    failure = first_failure()
    assert failure.startswith("order"), failure


def test_a_returned_batch_that_goes_behind_the_others_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = reservations._front

    def front(state: Any, queue: Any, signal: Any, now: Any) -> Any:
        found = real(state, queue, signal, now)
        return found[1:] if len(found) > 1 else found

    monkeypatch.setattr(reservations, "_front", front)
    failure = first_failure()
    assert failure.startswith("order"), failure
