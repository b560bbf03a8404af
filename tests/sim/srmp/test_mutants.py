"""The checkers detect SRMP that is broken on purpose, within a few seeds."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from msgspec.structs import replace

from reliquary.base import rows
from reliquary.engine.core import Batch
from reliquary.protocols.srmp import arrivals, machine
from reliquary.protocols.srmp.codec import blocks
from reliquary.protocols.srmp.receiver import messages, receipts
from reliquary.protocols.srmp.sender import answers, posting, resending, sessions, streams
from reliquary.protocols.srmp.sender import receipts as sender_receipts
from reliquary.protocols.srmp.sender.answers import Reaction
from reliquary.protocols.srmp.state import State
from reliquary.queueing.model.message import MessageClass
from reliquary.queueing.model.travel import transfer
from reliquary.queueing.model.travel.transfer import Outcome, TransferEnded
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.process import Process
from reliquary.sim.srmp.plugin import SrmpPlugin
from reliquary.sim.witness import Witness
from reliquary.sim.world.run import simulate
from reliquary.sim.world.witness import SiteWitness
from reliquary.streams import acceptance, facts, recovery
from reliquary.streams import apply as apply_module
from reliquary.streams.acceptance import Verdict
from reliquary.streams.outgoing import Sent
from tests.sim.seeds import find_failure

SEEDS = range(1, 61)
SIGNAL_RULES: dict[Any, Any] = machine._SIGNAL_RULES


def first_failure(process: type[Process] = Process) -> str:
    """Return what the checkers say about the first seed in which they find something."""
    return find_failure(partial(simulate, plugins=[SrmpPlugin], process=process), SEEDS, "srmp")


# -- the engine


class Hasty(Process):
    """Performs effects before the disk has their facts."""

    def _settle(self, batch: Batch) -> None:
        self._perform(batch.after_sync)
        batch.after_sync = []
        super()._settle(batch)


def test_what_leaves_before_its_sync_is_found() -> None:
    assert first_failure(Hasty).startswith("visible too early")


def test_what_leaves_before_its_sync_is_found_by_what_it_leads_to(monkeypatch: pytest.MonkeyPatch) -> None:
    def answered(self: Witness, process_number: int, reply: Any, disk: SimulatedDisk) -> int:
        return self._answers[process_number, reply.to][0]

    monkeypatch.setattr(Witness, "answered", answered)
    monkeypatch.setattr(SiteWitness, "leaves", lambda *_: None)
    failure = first_failure(Hasty)
    assert failure.startswith(("loss", "duplication", "left behind", "receipt", "order")), failure


# -- who sends


def test_a_message_that_gets_a_new_number_each_time_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = resending.go_again

    def go_again(state: State, session: Any) -> None:
        sent = state.sent.get(session.queue)
        if sent is not None and sent.numbers and not session.posted:
            apply_module.apply(state, facts.NumbersFreed(session.queue, tuple(sent.numbers)))
            apply_module.apply(state, facts.StreamEnded(session.queue))
        real(state, session)

    for module in (sessions, resending, posting, streams, sender_receipts):
        monkeypatch.setattr(module, "go_again", go_again)
    monkeypatch.setattr(messages, "_is_duplicate", lambda *_: False)
    failure = first_failure()
    assert failure.startswith(("duplication", "order", "renumbered")), failure


def test_a_gap_that_is_not_bridged_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Sent, "previous", lambda self, number: number - 1)
    failure = first_failure()
    assert failure.startswith("left behind"), failure


def test_a_message_that_is_dropped_after_a_5xx_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = answers.reaction_to

    def reaction_to(status: int, permanent: Any) -> Reaction:
        return Reaction.TAKEN if status >= 500 else real(status, permanent)

    monkeypatch.setattr(posting, "reaction_to", reaction_to)
    failure = first_failure()
    assert failure.startswith("loss"), failure


def test_a_stream_message_that_is_done_without_its_receipt_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def taken(state: State, session: Any, lookup_id: int, number: int) -> None:
        state.draft.signal(TransferEnded(session.queue, (lookup_id,), Outcome.DELIVERED))
        sent = state.sent.get(session.queue)
        if sent is not None and sent.numbers.get(lookup_id) == number:
            streams.free(state, session.queue, (lookup_id,), MessageClass.ACK_REACH_QUEUE)

    monkeypatch.setattr(posting, "_on_taken", taken)
    failure = first_failure()
    assert failure.startswith(("loss", "renumbered")), failure


@pytest.mark.long
def test_a_stream_that_is_numbered_anew_though_its_start_was_answered_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lost = property(lambda sent: not sent.stream.acknowledged and not sent.at(1))
    monkeypatch.setattr(Sent, "start_is_lost", lost)
    failure = first_failure()
    assert failure.startswith("renumbered"), failure


def test_receipts_that_are_not_awaited_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (sessions, posting, sender_receipts):
        monkeypatch.setattr(module, "start_wait", lambda *_, **__: None)
    assert first_failure().startswith("left behind")


def test_a_stream_that_a_restart_forgets_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = rows.every

    def every(port: rows.Rows, table: Any) -> Any:
        return [] if table.name in {"srmp_streams", "srmp_numbers"} else real(port, table)

    monkeypatch.setattr(recovery, "every", every)
    assert first_failure().startswith("recovery")


# -- who receives


def test_a_history_that_a_restart_forgets_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = rows.every

    def every(port: rows.Rows, table: Any) -> Any:
        return [] if table.name == "srmp_history" else real(port, table)

    monkeypatch.setattr(recovery, "every", every)
    monkeypatch.setattr(SrmpPlugin, "durable_state", lambda *_: {})
    failure = first_failure()
    assert failure.startswith("duplication"), failure


def judged(change: Callable[[Verdict], Verdict]) -> Callable[..., Verdict]:
    real = acceptance.judge
    return lambda *arguments: change(real(*arguments))


@pytest.mark.parametrize("verdict", [Verdict.OUTDATED, Verdict.OUT_OF_ORDER, Verdict.REPEATED])
def test_a_message_that_a_stream_must_not_take_is_found(
    monkeypatch: pytest.MonkeyPatch, verdict: Verdict
) -> None:
    monkeypatch.setattr(messages, "judge", judged(lambda found: Verdict.GO_ON if found is verdict else found))
    monkeypatch.setattr(messages, "_is_duplicate", lambda *_: False)
    first_failure()


def test_a_stream_that_gets_further_before_its_message_is_stored_is_found(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    real = messages.hand_over

    def hand_over(state: State, arriving: Any, way: Any, message: Any) -> None:
        if arriving.ours:
            messages._advance(state, arriving.envelope, arriving.destination, message.sent_time)
        real(state, arriving, way, message)

    for module in (messages, arrivals):
        monkeypatch.setattr(module, "hand_over", hand_over)
    failure = first_failure()
    assert failure.startswith("stream"), failure


def test_a_duplicate_that_is_not_known_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(messages, "_is_duplicate", lambda *_: False)
    failure = first_failure()
    assert failure.startswith("duplication"), failure


# -- receipts


def test_a_receipt_that_says_too_much_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = blocks.stream_receipt_block
    monkeypatch.setattr(
        receipts, "stream_receipt_block", lambda receipt: real(replace(receipt, last=receipt.last + 1))
    )
    failure = first_failure()
    assert failure.startswith("receipt"), failure


def test_a_delivery_receipt_for_what_was_refused_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = messages.on_judged

    def on_judged(state: State, signal: Any, now: Any) -> None:
        arriving = state.receiver.arriving.get(signal.ticket[0])
        if arriving is not None and arriving.ours and signal.outcome is not Outcome.DELIVERED:
            receipts.deliver(state, arriving.envelope, now)
        real(state, signal, now)

    monkeypatch.setitem(SIGNAL_RULES, transfer.ArrivalJudged, on_judged)
    failure = first_failure()
    assert failure.startswith("receipt"), failure


def test_a_commitment_receipt_that_turns_bad_news_into_good_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = receipts.on_receipt_due

    def on_receipt_due(state: State, signal: Any, now: Any) -> None:
        bad = signal.reason is MessageClass.NACK_QUEUE_PURGED
        real(state, replace(signal, reason=MessageClass.ACK_RECEIVE) if bad else signal, now)

    monkeypatch.setitem(SIGNAL_RULES, transfer.ReceiptDue, on_receipt_due)
    failure = first_failure()
    assert failure.startswith(("receipt", "loss")), failure


def test_a_receipt_that_is_never_written_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(receipts, "deliver", lambda *_: None)
    failure = first_failure()
    assert failure.startswith("receipt: no receipt"), failure
