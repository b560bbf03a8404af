"""Tests the engine in a process: it syncs before it answers, builds the next batch during a sync, and stops
in order."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable

import pytest

from reliquary.base.faults import StoreFailure, UsageError
from reliquary.base.time import Duration, Instant
from reliquary.base.turn import (
    CancelTimer,
    Continue,
    ContinueAfterSync,
    ContinueBesideSync,
    Event,
    Reply,
    SetTimer,
    TimerFired,
    Turn,
    Warn,
)
from reliquary.engine import loop as loop_module
from reliquary.engine import syncs as syncs_module
from reliquary.engine.loop import Answered, EngineStopped
from reliquary.engine.syncs import INLINE_TURNS, SYNC_BYTES
from tests.engine.machines import AnswerUnstored, Do, Look, Write
from tests.engine.room import Room, run, tick

MANY = INLINE_TURNS + 6
"""A number of turns that is too large for an inline sync."""


def test_what_was_not_logged_again_is_logged_later_or_when_the_engine_stops(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story(room: Room) -> None:
        for _ in range(3):
            room.engine.warn(Warn("orders", "lost", "full"))
        reminder = room.engine._reminder
        assert reminder is not None
        assert reminder.when() - asyncio.get_running_loop().time() > 50
        room.engine._remind()  # too early: it is set again
        assert room.engine._reminder is not None
        assert caplog.messages == ["orders: lost 1 times: full"]
        await room.stop()
        assert caplog.messages == ["orders: lost 1 times: full", "orders: lost 2 times: full"]

    run(story)


def test_the_sync_of_many_bytes_begins_before_the_turns_of_further_requests() -> None:
    async def story(room: Room) -> None:
        for name in "abcde":
            room.write(name * (SYNC_BYTES // 2))
        await room.sync_begun()
        assert room.engine.syncs.sizes.sum == 2  # the turns that the sync covers
        await room.until(lambda: len(room.notes_machine.seen) == 5)  # their turns run beside the sync
        assert room.answers == []
        room.disk.let_go()
        await room.until(lambda: bool(room.answers))
        assert [str(answer)[0] for answer in room.answers] == ["a", "b"]
        await room.stop()
        assert [str(answer)[0] for answer in room.answers] == list("abcde")

    run(story)


def test_turns_without_effects_run_on_however_many_bytes_they_have(monkeypatch: pytest.MonkeyPatch) -> None:
    async def story(room: Room) -> None:
        monkeypatch.setattr(room.notes_machine, "handle", silent(room.notes_machine.handle))
        for name in "abc":
            room.write(name * SYNC_BYTES)
        await tick()
        assert len(room.notes_machine.seen) == 3
        await room.stop()

    run(story)


def test_a_warning_is_logged_when_its_turn_is_on_disk(caplog: pytest.LogCaptureFixture) -> None:
    async def story(room: Room) -> None:
        room.do(Warn("orders", "lost", "full", 2))
        for number in range(MANY):
            room.write(f"{number}")
        await room.sync_begun()
        assert not caplog.records
        room.disk.let_go()
        await room.until(lambda: len(room.answers) == MANY)
        assert [record.getMessage() for record in caplog.records] == ["orders: lost 2 times: full"]
        await room.stop()

    run(story)


# -- the order of the world


def test_nothing_is_answered_before_its_sync_and_many_turns_share_one() -> None:
    async def story(room: Room) -> None:
        for number in range(MANY):
            room.write(f"{number:02}")
        await room.sync_begun()
        for _ in range(10):
            await tick()
        assert (room.answers, room.disk.applies, room.disk.begins) == ([], 1, 1)
        room.disk.let_go()
        await room.until(lambda: len(room.answers) == MANY)
        assert room.answers == [f"{number:02}" for number in range(MANY)]
        assert (room.disk.begins, room.engine.syncs.count, room.engine.turns) == (1, 1, MANY)
        await room.stop()

    run(story)


def test_requests_that_come_while_the_loop_looks_again_share_the_sync() -> None:
    async def story(room: Room) -> None:
        room.disk.let_go(10)
        room.write("first")
        asyncio.get_running_loop().call_soon(room.write, "second")  # after the first turn was run
        await room.until(lambda: len(room.answers) == 2)
        assert (room.disk.applies, room.disk.begins) == (1, 1)
        await room.stop()

    run(story)


def test_the_next_batch_is_built_while_the_last_one_syncs_and_waits_for_a_sync_of_its_own() -> None:
    async def story(room: Room) -> None:
        for number in range(MANY):
            room.write(f"first {number}")
        await room.sync_begun()
        for number in range(MANY):
            room.write(f"second {number}")
        await room.until(lambda: room.engine.turns == 2 * MANY)  # built, the sync still runs
        assert (room.answers, room.disk.applies) == ([], 1)
        room.disk.let_go()
        await room.sync_begun()  # the second one
        await room.until(lambda: len(room.answers) >= MANY)
        assert room.answers == [f"first {number}" for number in range(MANY)]
        room.disk.let_go()
        await room.until(lambda: len(room.answers) == 2 * MANY)
        assert room.disk.begins == 2
        await room.stop()

    run(story)


def test_requests_that_come_during_one_sync_are_one_batch() -> None:
    async def story(room: Room) -> None:
        for number in range(MANY):
            room.write(f"{number}")
        await room.sync_begun()
        for number in range(3):
            room.write(f"later {number}")
            await room.until(lambda: room.engine.turns == MANY + number + 1)  # noqa: B023
        room.disk.let_go(2)
        await room.until(lambda: len(room.answers) == MANY + 3)
        assert (room.disk.applies, room.disk.begins) == (2, 2)
        await room.stop()

    run(story)


@pytest.mark.parametrize("limit", ["OPEN_TURNS", "OPEN_BYTES"])
def test_a_batch_that_gets_large_during_a_sync_is_written_before_the_sync_ends(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(syncs_module, limit, MANY)

    async def story(room: Room) -> None:
        for number in range(MANY):
            room.write(f"{number}")
        await room.sync_begun()
        for number in range(MANY):
            room.write(f"more {number}")
        await room.until(lambda: room.disk.applies == 2)
        assert (room.answers, room.disk.begins) == ([], 1)
        room.disk.let_go(2)
        await room.until(lambda: len(room.answers) == 2 * MANY)
        await room.stop()

    run(story)


def test_a_question_that_changes_nothing_waits_while_what_it_may_show_is_unsynced() -> None:
    async def story(room: Room) -> None:
        for number in range(MANY):
            room.write(f"{number:02}")
        await room.sync_begun()
        room.engine.submit(Look(room.engine.caller(room.answers.append)))
        for _ in range(10):
            await tick()
        assert room.answers == []
        room.disk.let_go(2)
        await room.until(lambda: len(room.answers) == MANY + 1)
        assert len(room.answers[-1]) == MANY  # type: ignore[arg-type]
        await room.stop()

    run(story)


def test_a_question_is_answered_without_a_sync_when_everything_is_safe() -> None:
    async def story(room: Room) -> None:
        assert await room.engine.ask(Look) == []
        assert room.disk.begins == 0
        await room.stop()

    run(story)


def test_an_observer_sees_events_before_their_turns_and_the_answers_that_it_intercepts() -> None:
    async def story(room: Room) -> None:
        seen: list[object] = []

        def wrap(before: Answered) -> Answered:
            def answered(answer: object) -> None:
                seen.append(answer)
                before(answer)

            return answered

        def see(event: Event) -> Event:
            assert isinstance(event, Write)
            room.engine.intercept(event.to, wrap)
            room.engine.intercept(999, wrap)  # no caller waits under this number
            return Write(event.to, event.text.upper())

        room.engine.observer = see
        room.disk.let_go()
        room.write("a")
        await room.until(lambda: room.answers == ["A"])
        assert seen == ["A"]
        await room.stop()

    run(story)


def test_what_a_crash_may_take_is_answered_at_once() -> None:
    async def story(room: Room) -> None:
        for number in range(MANY):
            room.write(f"{number}")
        await room.sync_begun()
        room.whisper("x")
        await room.until(lambda: room.answers == ["x"])
        await room.stop()
        assert len(room.answers) == MANY + 1

    run(story)


def test_a_small_batch_is_synced_inline_when_nothing_else_is_under_way() -> None:
    async def story(room: Room) -> None:
        threads = []
        room.disk.on_begin = lambda: threads.append(threading.current_thread())
        room.disk.let_go()
        assert await room.engine.ask(lambda to: Write(to, "a")) == "a"
        assert threads == [threading.current_thread()]
        room.disk.let_go()
        for number in range(MANY):
            room.write(f"{number}")
        await room.until(lambda: len(room.answers) == MANY)
        assert threads[1] is not threading.current_thread()
        await room.stop()

    run(story)


def test_a_batch_that_confirms_nothing_begins_no_sync_but_gets_one_in_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(syncs_module, "UNASKED_SYNC_SECONDS", 0.001)

    async def story(room: Room) -> None:
        room.disk.let_go()
        room.engine.submit(Write(0, "a"))  # caller 0 does not exist: but it is an answer, so it is synced
        await room.until(lambda: room.engine.syncs.count == 1)
        monkeypatch.setattr(room.notes_machine, "handle", silent(room.notes_machine.handle))
        room.engine.submit(Write(0, "b"))
        await room.until(lambda: room.engine.turns == 2)
        assert (room.disk.applies, room.disk.begins) == (1, 1)
        room.disk.let_go()
        await room.until(lambda: room.engine.syncs.count == 2)
        assert room.disk.unsynced == 0
        await room.stop()

    run(story)


def silent(handle: Callable[[Event, Instant], Turn]) -> Callable[[Event, Instant], Turn]:
    """Return a machine that changes rows, and sends no signal and no answer."""
    return lambda event, now: Turn(handle(event, now).facts)


# -- timers and work for later


def test_a_timer_fires_once_and_one_that_was_cancelled_never() -> None:
    async def story(room: Room) -> None:
        room.disk.let_go(10)
        room.do(SetTimer(("gone", 0), Duration(1)), CancelTimer(("gone", 0)))
        room.do(SetTimer(("late", 0), Duration(3_600_000_000)), SetTimer(("late", 0), Duration(500)))
        room.do(SetTimer(("soon", 0), Duration(1)))

        def fired() -> list[str]:
            return [each.name[0] for each in room.notes_machine.seen if isinstance(each, TimerFired)]

        await room.until(lambda: len(fired()) == 2)
        assert fired() == ["soon", "late"]
        for _ in range(10):
            await tick()
        assert len(fired()) == 2
        await room.stop()

    run(story)


def test_a_timer_of_the_calendar_fires_when_the_calendar_is_set_forward() -> None:
    async def story(room: Room) -> None:
        room.disk.let_go(10)
        hour = Duration(3_600_000_000)
        room.do(
            SetTimer(("span", 0), hour),
            SetTimer(("moment", 0), hour, calendar=True),
            SetTimer(("gone", 0), hour, calendar=True),
            CancelTimer(("gone", 0)),
        )

        def fired() -> list[str]:
            return [each.name[0] for each in room.notes_machine.seen if isinstance(each, TimerFired)]

        await room.until(lambda: len(room.notes_machine.seen) == 1)
        room.clock.jumps += 1
        room.whisper("the next batch reads the clock")
        await room.until(lambda: bool(fired()))
        room.whisper("the calendar was not set again")
        await room.until(lambda: len(room.answers) == 2)
        assert fired() == ["moment"]
        await room.stop()

    run(story)


def test_work_is_continued_in_a_later_turn_behind_what_came_before() -> None:
    async def story(room: Room) -> None:
        room.disk.let_go(10)
        room.do(Continue(Look(7)))
        room.whisper("first")
        await room.until(lambda: Look(7) in room.notes_machine.seen)
        assert room.notes_machine.seen.index(Look(7)) == 2
        await room.stop()

    run(story)


def test_work_is_continued_after_the_sync_of_its_turn() -> None:
    async def story(room: Room) -> None:
        seen_at_sync: list[bool] = []
        room.disk.on_begin = lambda: seen_at_sync.append(Look(7) in room.notes_machine.seen)
        room.disk.let_go(10)
        room.write("a")
        room.do(ContinueAfterSync(Look(7)))
        await room.until(lambda: Look(7) in room.notes_machine.seen)
        assert seen_at_sync[0] is False
        assert room.answers == ["a"]
        await room.stop()

    run(story)


def test_work_is_continued_beside_the_sync_of_its_turn() -> None:
    async def story(room: Room) -> None:
        room.write("a")
        room.do(ContinueBesideSync(Look(7)))
        await room.until(lambda: Look(7) in room.notes_machine.seen)
        assert (room.engine.syncs.is_syncing, room.answers) == (True, [])
        room.disk.let_go(10)
        await room.until(lambda: room.answers == ["a"])
        await room.stop()

    run(story)


# -- callers


def test_no_caller_gets_a_forgotten_answer_or_two_answers() -> None:
    async def story(room: Room) -> None:
        room.disk.let_go(10)
        one, other = room.engine.caller(room.answers.append), room.engine.caller(room.answers.append)
        assert one != other
        room.engine.forget(one)
        room.do(Reply(one, "lost"), Reply(other, "heard"), Reply(other, "again"))
        await room.until(lambda: bool(room.answers))
        assert room.answers == ["heard"]
        await room.stop()

    run(story)


def test_a_question_that_is_given_up_leaves_no_waiter_behind() -> None:
    async def story(room: Room) -> None:
        asked = asyncio.ensure_future(room.engine.ask(lambda to: Do(Turn())))
        await tick()
        asked.cancel()
        await asyncio.wait([asked])
        assert room.engine._callers == {}
        await room.stop()

    run(story)


# -- pressure


def test_sources_are_asked_to_pause_at_the_bound_and_to_go_on_below_half_of_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(loop_module, "MOST_UNDER_WAY", MANY + 10)

    async def story(room: Room) -> None:
        reported: list[bool] = []
        room.engine.on_pressure = reported.append
        for number in range(MANY):
            room.write(f"{number}")
        await room.sync_begun()
        assert (reported, room.engine.under_way) == ([], MANY)
        for number in range(MANY):
            room.write(f"more {number}")
        await room.until(lambda: room.engine.turns == 2 * MANY)
        await tick()
        assert (reported, room.engine.under_way) == ([True], 2 * MANY)
        room.disk.let_go(2)
        await room.until(lambda: len(room.answers) == 2 * MANY)
        await tick()
        assert (reported, room.engine.under_way) == ([True, False], 0)
        await room.stop()

    run(story)


# -- the end


def test_an_orderly_stop_performs_everything_that_was_submitted_and_the_last_event_last() -> None:
    async def story(room: Room) -> None:
        for number in range(700):  # more than one batch
            room.write(f"{number:03}")
        room.do(Continue(AnswerUnstored(room.engine.caller(room.answers.append), "continued")))
        room.disk.let_go(100)
        await room.engine.stop(Look(0))
        assert set(room.answers) == {"continued", *(f"{number:03}" for number in range(700))}
        assert Look(0) in room.notes_machine.seen
        assert room.disk.unsynced == 0
        with pytest.raises(EngineStopped):
            room.write("too late")
        with pytest.raises(UsageError):
            room.disk.get("notes", b"")  # the disk was closed

    run(story)


def test_a_failed_sync_ends_all_work_and_nothing_is_reported_afterwards() -> None:
    async def story(room: Room) -> None:
        for number in range(MANY):
            room.write(f"{number}")
        await room.sync_begun()
        room.write("waits for the next")
        await room.until(lambda: room.engine.turns == MANY + 1)
        room.disk.failure = StoreFailure("io", "the disk is broken")
        room.disk.let_go(100)
        await room.until(lambda: bool(room.failures))
        room.engine._alarm.ring()
        for _ in range(10):
            await tick()
        assert room.failures == [room.disk.failure]
        assert room.engine.failure is room.disk.failure
        assert room.answers == []
        with pytest.raises(EngineStopped):
            room.write("too late")
        await close_after_failure(room)
        assert (room.answers, room.failures) == ([], [room.disk.failure])

    run(story)


def test_a_failed_inline_sync_ends_all_work_too() -> None:
    async def story(room: Room) -> None:
        room.disk.failure = StoreFailure("full", "the disk is full")
        room.disk.let_go(100)
        room.write("a")
        await room.until(lambda: bool(room.failures))
        assert room.answers == []
        await close_after_failure(room)
        assert (room.answers, len(room.failures)) == ([], 1)

    run(story)


def test_a_failed_write_ends_all_work() -> None:
    async def story(room: Room) -> None:
        room.disk.fail_apply_after(0, "full")
        room.whisper("x")
        room.write("a")
        await room.until(lambda: bool(room.failures))
        assert isinstance(room.failures[0], StoreFailure)
        assert room.answers == ["x"]  # a crash may take what it was about
        await close_after_failure(room)

    run(story)


def test_a_machine_that_breaks_ends_all_work_and_takes_the_batch_along() -> None:
    async def story(room: Room) -> None:
        for number in range(MANY):
            room.write(f"{number}")
        await room.sync_begun()
        room.engine.submit(Do("this is no turn"))  # type: ignore[arg-type]
        await room.until(lambda: bool(room.failures))
        room.disk.let_go(100)  # the sync that was under way ends well, and no caller is notified
        await close_after_failure(room)
        assert (room.answers, len(room.failures)) == ([], 1)

    run(story)


@pytest.mark.parametrize("count", [1, MANY], ids=["inline", "in the store's thread"])
def test_an_effect_that_cannot_be_performed_ends_all_work(count: int) -> None:
    async def story(room: Room) -> None:
        room.disk.let_go(100)
        for _ in range(count):
            room.do(Reply(room.engine.caller(explode), ""))
        room.write("behind it")
        await room.until(lambda: bool(room.failures))
        assert isinstance(room.failures[0], ZeroDivisionError)
        await close_after_failure(room)
        assert (room.answers, len(room.failures)) == ([], 1)

    run(story)


def explode(answer: object) -> None:
    raise ZeroDivisionError(f"the caller cannot take {answer}")


async def close_after_failure(room: Room) -> None:
    """Stop the engine as a process does that ends after a failure."""
    room.disk.failure = room.disk.failure or StoreFailure("io", "it is over")
    room.disk.let_go(100)
    with contextlib.suppress(StoreFailure):  # the disk cannot be closed well either
        await room.engine.stop()
