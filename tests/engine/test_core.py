"""Tests turns and batches: signals inside the turn, one apply for each batch, effects that may leave
at once."""

from __future__ import annotations

import pytest

from reliquary.base.time import Duration
from reliquary.base.turn import CancelTimer, Continue, ContinueAfterSync, Effect, Reply, SetTimer, Turn
from reliquary.engine.core import SIGNALS_IN_A_TURN, Core
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows
from tests.engine.machines import (
    NOON,
    NOTES,
    AnswerUnstored,
    Do,
    Look,
    Noted,
    NoteSignal,
    NotesMachine,
    RelayingMachine,
    VolatileNoted,
    Write,
)


class CoreBench:
    """A core with a NotesMachine, and optionally a second machine that takes its signals."""

    def __init__(self, *, relaying: bool = False) -> None:
        self.disk = MemoryDisk(["notes"])
        self.rows = StagedRows(self.disk)
        self.core = Core(self.disk, self.rows)
        self.notes_machine = NotesMachine(self.rows)
        self.core.add(self.notes_machine)
        if relaying:
            self.relaying = RelayingMachine(self.rows)
            self.core.add(self.relaying, signals=(NoteSignal,))

    def notes(self) -> list[str]:
        return [key.decode() for key, _ in self.disk.range("notes", b"", b"\xff", limit=100)]


def test_signals_reach_their_subscribers_in_that_turn() -> None:
    bench = CoreBench(relaying=True)
    turn = bench.core.turn(Write(1, "a"), NOON)
    assert turn.facts == (Noted("a"), Noted("a!"), Noted("a!!"), Noted("a!!!"))
    assert [effect for effect in turn.effects if isinstance(effect, Reply)] == [
        Reply(1, "a"), Reply(99, "a!"), Reply(99, "a!!"), Reply(99, "a!!!"),
    ]  # fmt: skip


def test_what_a_listener_states_joins_the_batch() -> None:
    bench = CoreBench(relaying=True)
    bench.core.turn(Write(1, "a"), NOON)
    assert bench.notes() == []
    bench.core.close()
    assert bench.notes() == ["a", "a!", "a!!", "a!!!"]
    assert bench.disk.unsynced == 1


def test_a_signal_without_a_subscriber_has_no_effect() -> None:
    bench = CoreBench()
    assert bench.core.turn(Write(1, "a"), NOON).facts == (Noted("a"),)


def test_machines_that_answer_each_other_endlessly_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = CoreBench(relaying=True)
    monkeypatch.setattr(bench.relaying, "on_signal", lambda signal, now: Turn(signals=(signal,)))
    with pytest.raises(AssertionError, match="does not end"):
        bench.core.turn(Write(1, "a"), NOON)
    assert SIGNALS_IN_A_TURN > 10_000


def test_an_event_goes_to_the_machine_it_is_routed_to_and_else_to_the_first() -> None:
    bench = CoreBench(relaying=True)
    bench.core.add(bench.relaying, takes=(Look,))
    assert bench.core.turn(Look(5), NOON).effects == (Reply(5, "relaying"),)
    bench.core.turn(AnswerUnstored(1, "x"), NOON)
    assert bench.notes_machine.seen == [AnswerUnstored(1, "x")]


def test_many_turns_are_one_apply_and_one_settle() -> None:
    bench = CoreBench()
    for text in "abcdef":
        bench.core.turn(Write(1, text), NOON)
    batch = bench.core.close()
    assert (batch.turns, batch.applied, bench.disk.unsynced, bench.notes_machine.settled) == (6, True, 1, 1)
    assert batch.after_sync == [Reply(1, text) for text in "abcdef"]
    assert bench.core.take_at_once() == []


def test_a_turn_reads_what_an_earlier_turn_of_the_batch_staged() -> None:
    bench = CoreBench()
    bench.core.turn(Write(1, "a"), NOON)
    assert bench.core.turn(Look(2), NOON).effects == (Reply(2, ["a"]),)


def test_a_batch_that_changes_nothing_applies_nothing() -> None:
    bench = CoreBench()
    bench.core.turn(Look(2), NOON)
    batch = bench.core.close()
    assert (batch.applied, bench.disk.unsynced) == (False, 0)
    assert batch.after_sync == [Reply(2, [])]  # it may show what is not yet synced


def test_the_next_batch_begins_empty() -> None:
    bench = CoreBench()
    bench.core.turn(Write(1, "a"), NOON)
    bench.core.close()
    batch = bench.core.close()
    assert (batch.turns, batch.applied, batch.after_sync, bench.core.take_at_once()) == (0, False, [], [])


def test_an_answer_about_volatile_facts_alone_leaves_at_once() -> None:
    bench = CoreBench()
    bench.core.turn(AnswerUnstored(1, "x"), NOON)
    batch = bench.core.close()
    assert (bench.core.take_at_once(), batch.after_sync) == ([Reply(1, "x")], [])


@pytest.mark.parametrize(
    "turn",
    [
        pytest.param(
            Turn((VolatileNoted("x"), Noted("y")), (), (Reply(1, ""),)), id="a durable fact beside it"
        ),
        pytest.param(Turn((), (), (Reply(1, ""),)), id="no fact at all"),
        pytest.param(
            Turn((VolatileNoted("x"),), (), (Reply(1, ""),), waits=True), id="it shows what is durable"
        ),
    ],
)
def test_any_other_answer_waits_for_a_sync(turn: Turn) -> None:
    bench = CoreBench()
    bench.core.turn(Do(turn), NOON)
    batch = bench.core.close()
    assert (bench.core.take_at_once(), batch.after_sync) == ([], [Reply(1, "")])


def test_an_answer_waits_when_a_listener_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    bench = CoreBench(relaying=True)
    monkeypatch.setattr(bench.relaying, "on_signal", lambda signal, now: Turn(waits=True))
    bench.core.turn(Do(Turn((VolatileNoted("x"),), (NoteSignal("x"),), (Reply(1, ""),))), NOON)
    assert bench.core.close().after_sync == [Reply(1, "")]


def test_timers_and_work_for_later_stay_inside_and_do_not_wait() -> None:
    bench = CoreBench()
    inside = (SetTimer(("wait", 1), Duration(5)), CancelTimer(("wait", 2)), Continue(Look(0)))
    bench.core.turn(Do(Turn((Noted("y"),), (), (*inside, Reply(1, "")))), NOON)
    batch = bench.core.close()
    assert bench.core.take_at_once() == list(inside)
    assert batch.after_sync == [Reply(1, "")]


class Shown(Effect, frozen=True):
    """Shows only what was on disk before."""

    waits_for_disk = False


def test_an_effect_that_shows_only_what_was_on_disk_leaves_at_once() -> None:
    bench = CoreBench()
    bench.core.turn(Do(Turn((Noted("y"),), (), (Shown(), Reply(1, "")))), NOON)
    assert (bench.core.take_at_once(), bench.core.close().after_sync) == ([Shown()], [Reply(1, "")])


def test_work_after_a_sync_waits_for_the_sync() -> None:
    bench = CoreBench()
    later = ContinueAfterSync(Look(0))
    bench.core.turn(Do(Turn((Noted("y"),), (), (later,))), NOON)
    assert (bench.core.take_at_once(), bench.core.close().after_sync) == ([], [later])


def test_staged_rows_are_read_back_by_table() -> None:
    bench = CoreBench()
    bench.core.turn(Write(1, "a"), NOON)
    bench.core.close()
    note = bench.rows.get(NOTES, b"a")
    assert note is not None
    assert note.text == "a"
