"""Tests the checks at each step: nothing early, nothing twice, no read that waits while a message is
available."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import Duration
from reliquary.base.turn import Event, Fact, Reply, Turn
from reliquary.queueing.model.events import Purged, PurgeQueue, ReceiveMessages, SendMessages, Sent
from reliquary.queueing.model.tables import TABLES
from reliquary.sim.chance import SeededChance
from reliquary.sim.disk import SimulatedDisk
from reliquary.sim.history import History, Violation
from reliquary.sim.witness import Witness
from reliquary.store.disk import Changes
from tests.queueing.manager_harness import Bench
from tests.sim.written_history import NOW, ORDERS, Story, created, delivered, stored


class Watch:
    """A witness, and a disk on which batches are applied and synced by hand."""

    def __init__(self) -> None:
        story = Story()
        story.history.turns.clear()
        story.sent(1, 2)
        self.history: History = story.history
        self.history.processes = 1
        self.witness = Witness(self.history)
        self.disk = SimulatedDisk(TABLES)
        self.turn(PurgeQueue(1, "q1"), Purged(HResult.OK), *created(ORDERS))
        self.disk.apply(Changes())
        self.disk.sync()

    def turn(self, event: Event, answer: object, *facts: Fact) -> Reply:
        reply = Reply(event.to, answer)  # type: ignore[attr-defined]
        self.witness.turned(1, self.disk.applied + 1, event, Turn(facts, (), (reply,)), NOW)
        return reply

    def leaves(self, reply: Reply) -> int:
        return self.witness.answered(1, reply, self.disk)


SEND = SendMessages(5, "q1", ())


def test_an_answer_may_leave_when_its_facts_are_safe_and_not_before() -> None:
    watch = Watch()
    reply = watch.turn(SEND, Sent(HResult.OK, lookup_ids=(1,)), stored(1))
    watch.disk.apply(Changes())
    with pytest.raises(Violation, match="visible too early"):
        watch.leaves(reply)
    watch.disk.sync()
    assert watch.leaves(reply) == 1


def test_an_answer_that_shows_a_message_waits_for_the_batch_that_stored_it() -> None:
    watch = Watch()
    watch.turn(SEND, Sent(HResult.OK, lookup_ids=(1,)), stored(1))
    watch.disk.apply(Changes())
    reply = watch.turn(ReceiveMessages(6, "q1", hold=Duration(1)), delivered(1))
    with pytest.raises(Violation, match="visible too early"):
        watch.leaves(reply)


def test_an_answer_about_express_messages_may_leave_at_once() -> None:
    watch = Watch()
    watch.leaves(watch.turn(SEND, Sent(HResult.OK, lookup_ids=(1,)), stored(1, express=True)))
    watch.leaves(watch.turn(ReceiveMessages(6, "q1", hold=Duration(1)), delivered(1, express=True)))


def test_no_caller_is_answered_twice() -> None:
    watch = Watch()
    watch.turn(SEND, Sent(HResult.OK))
    with pytest.raises(Violation, match="answered twice"):
        watch.turn(SEND, Sent(HResult.OK))


def test_a_message_that_was_not_sent_is_found() -> None:
    watch = Watch()
    with pytest.raises(Violation, match="never sent"):
        watch.turn(ReceiveMessages(6, "q1"), delivered(7, express=True))


def test_a_number_that_is_given_out_twice_is_found() -> None:
    watch = Watch()
    watch.leaves(watch.turn(SEND, Sent(HResult.OK, lookup_ids=(4,))))
    again = SendMessages(6, "q1", ())
    with pytest.raises(Violation, match="given out twice"):
        watch.leaves(watch.turn(again, Sent(HResult.OK, lookup_ids=(4,))))


def test_two_messages_of_one_identifier_are_found() -> None:
    watch = Watch()
    watch.leaves(watch.turn(ReceiveMessages(6, "q1", hold=Duration(1)), delivered(1, express=True)))
    with pytest.raises(Violation, match="are both"):  # neither was given an Identifier
        watch.leaves(watch.turn(ReceiveMessages(7, "q1", hold=Duration(1)), delivered(2, express=True)))


def test_a_crash_takes_the_turns_whose_batches_it_takes() -> None:
    watch = Watch()
    watch.turn(SEND, Sent(HResult.OK), stored(1))
    watch.turn(ReceiveMessages(6, "q1", hold=Duration(1)), delivered(1))
    survivor = watch.disk.crash(SeededChance(1))
    with pytest.raises(Violation):  # these rows were never really written, so the comparison fails ...
        watch.witness.crashed(survivor)
    assert [turned.lost for turned in watch.history.turns] == [False, True, False]  # ... but not this


def test_a_reader_who_waits_in_front_of_a_message_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = Bench("orders")
    witness = Witness(History())
    bench.begin_asking(ReceiveMessages(0, "orders", timeout=Duration(5_000_000)))
    witness.batch_applied(bench.manager, bench.now)
    monkeypatch.setattr("reliquary.queueing.model.state.State.wake", lambda *_: None)
    bench.send("orders", b"a")
    with pytest.raises(Violation, match="liveness"):
        witness.batch_applied(bench.manager, bench.now)
