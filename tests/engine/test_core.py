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
    Do,
    Gossip,
    Look,
    Noted,
    Rumour,
    Scribe,
    Whisper,
    Whispered,
    Write,
)


class Desk:
    """A core with a scribe, and optionally a second machine that takes its signals."""

    def __init__(self, *, gossip: bool = False) -> None:
        self.disk = MemoryDisk(["notes"])
        self.rows = StagedRows(self.disk)
        self.core = Core(self.disk, self.rows)
        self.scribe = Scribe(self.rows)
        self.core.add(self.scribe)
        if gossip:
            self.gossip = Gossip(self.rows)
            self.core.add(self.gossip, signals=(Rumour,))

    def notes(self) -> list[str]:
        return [key.decode() for key, _ in self.disk.range("notes", b"", b"\xff", limit=100)]


def test_signals_reach_their_subscribers_in_that_turn() -> None:
    desk = Desk(gossip=True)
    turn = desk.core.turn(Write(1, "a"), NOON)
    assert turn.facts == (Noted("a"), Noted("a!"), Noted("a!!"), Noted("a!!!"))
    assert [effect for effect in turn.effects if isinstance(effect, Reply)] == [
        Reply(1, "a"), Reply(99, "a!"), Reply(99, "a!!"), Reply(99, "a!!!"),
    ]  # fmt: skip


def test_what_a_listener_states_joins_the_batch() -> None:
    desk = Desk(gossip=True)
    desk.core.turn(Write(1, "a"), NOON)
    assert desk.notes() == []
    desk.core.close()
    assert desk.notes() == ["a", "a!", "a!!", "a!!!"]
    assert desk.disk.unsynced == 1


def test_a_signal_without_a_subscriber_has_no_effect() -> None:
    desk = Desk()
    assert desk.core.turn(Write(1, "a"), NOON).facts == (Noted("a"),)


def test_machines_that_answer_each_other_endlessly_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(gossip=True)
    monkeypatch.setattr(desk.gossip, "on_signal", lambda signal, now: Turn(signals=(signal,)))
    with pytest.raises(AssertionError, match="does not end"):
        desk.core.turn(Write(1, "a"), NOON)
    assert SIGNALS_IN_A_TURN > 10_000


def test_an_event_goes_to_the_machine_it_is_routed_to_and_else_to_the_first() -> None:
    desk = Desk(gossip=True)
    desk.core.add(desk.gossip, takes=(Look,))
    assert desk.core.turn(Look(5), NOON).effects == (Reply(5, "gossip"),)
    desk.core.turn(Whisper(1, "x"), NOON)
    assert desk.scribe.seen == [Whisper(1, "x")]


def test_many_turns_are_one_apply_and_one_settle() -> None:
    desk = Desk()
    for text in "abcdef":
        desk.core.turn(Write(1, text), NOON)
    batch = desk.core.close()
    assert (batch.turns, batch.applied, desk.disk.unsynced, desk.scribe.settled) == (6, True, 1, 1)
    assert batch.after_sync == [Reply(1, text) for text in "abcdef"]
    assert desk.core.take_at_once() == []


def test_a_turn_reads_what_an_earlier_turn_of_the_batch_staged() -> None:
    desk = Desk()
    desk.core.turn(Write(1, "a"), NOON)
    assert desk.core.turn(Look(2), NOON).effects == (Reply(2, ["a"]),)


def test_a_batch_that_changes_nothing_applies_nothing() -> None:
    desk = Desk()
    desk.core.turn(Look(2), NOON)
    batch = desk.core.close()
    assert (batch.applied, desk.disk.unsynced) == (False, 0)
    assert batch.after_sync == [Reply(2, [])]  # it may show what is not yet synced


def test_the_next_batch_begins_empty() -> None:
    desk = Desk()
    desk.core.turn(Write(1, "a"), NOON)
    desk.core.close()
    batch = desk.core.close()
    assert (batch.turns, batch.applied, batch.after_sync, desk.core.take_at_once()) == (0, False, [], [])


def test_an_answer_about_volatile_facts_alone_leaves_at_once() -> None:
    desk = Desk()
    desk.core.turn(Whisper(1, "x"), NOON)
    batch = desk.core.close()
    assert (desk.core.take_at_once(), batch.after_sync) == ([Reply(1, "x")], [])


@pytest.mark.parametrize(
    "turn",
    [
        pytest.param(Turn((Whispered("x"), Noted("y")), (), (Reply(1, ""),)), id="a durable fact beside it"),
        pytest.param(Turn((), (), (Reply(1, ""),)), id="no fact at all"),
        pytest.param(Turn((Whispered("x"),), (), (Reply(1, ""),), waits=True), id="it shows what is durable"),
    ],
)
def test_any_other_answer_waits_for_a_sync(turn: Turn) -> None:
    desk = Desk()
    desk.core.turn(Do(turn), NOON)
    batch = desk.core.close()
    assert (desk.core.take_at_once(), batch.after_sync) == ([], [Reply(1, "")])


def test_an_answer_waits_when_a_listener_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    desk = Desk(gossip=True)
    monkeypatch.setattr(desk.gossip, "on_signal", lambda signal, now: Turn(waits=True))
    desk.core.turn(Do(Turn((Whispered("x"),), (Rumour("x"),), (Reply(1, ""),))), NOON)
    assert desk.core.close().after_sync == [Reply(1, "")]


def test_timers_and_work_for_later_stay_inside_and_do_not_wait() -> None:
    desk = Desk()
    inside = (SetTimer(("wait", 1), Duration(5)), CancelTimer(("wait", 2)), Continue(Look(0)))
    desk.core.turn(Do(Turn((Noted("y"),), (), (*inside, Reply(1, "")))), NOON)
    batch = desk.core.close()
    assert desk.core.take_at_once() == list(inside)
    assert batch.after_sync == [Reply(1, "")]


class Shown(Effect, frozen=True):
    """Shows only what was on disk before."""

    waits_for_disk = False


def test_an_effect_that_shows_only_what_was_on_disk_leaves_at_once() -> None:
    desk = Desk()
    desk.core.turn(Do(Turn((Noted("y"),), (), (Shown(), Reply(1, "")))), NOON)
    assert (desk.core.take_at_once(), desk.core.close().after_sync) == ([Shown()], [Reply(1, "")])


def test_work_after_a_sync_waits_for_the_sync() -> None:
    desk = Desk()
    later = ContinueAfterSync(Look(0))
    desk.core.turn(Do(Turn((Noted("y"),), (), (later,))), NOON)
    assert (desk.core.take_at_once(), desk.core.close().after_sync) == ([], [later])


def test_staged_rows_are_read_back_by_table() -> None:
    desk = Desk()
    desk.core.turn(Write(1, "a"), NOON)
    desk.core.close()
    note = desk.rows.get(NOTES, b"a")
    assert note is not None
    assert note.text == "a"
