"""Tests the whole matrix: everyone who can fall, at every place, each in another batch of one query.

A fall of one is over before the next begins, so one query takes all four; who falls in which batch changes
from place to place, so that everyone falls in the first, a middle and the last batch.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.spark.crash.driver import NOT_PLANNED
from tests.spark.crash.faults import COMMIT, PLANNED, PLANNING, TASK, Fault
from tests.spark.crash.harness import Crossing, Drivers, Ground

pytestmark = pytest.mark.long

ROWS, ROWS_PER_BATCH = 60, 20
WHO = ("raise", "worker", "server", "driver")
PHASES = (*PLANNING, *TASK, *COMMIT)
REPORTED_WITH_THE_NEXT = ("moving", "moved")
"""Spark reports a batch when the next is logged, so it never reports the last."""


def faults(phase: str) -> list[Fault]:
    """Everyone falls at this place, each in another batch; who falls in which changes from place to place."""
    turn = PHASES.index(phase)
    return [Fault(WHO[(turn + batch) % len(WHO)], phase, batch) for batch in range(len(WHO))]


def test_each_process_is_killed_in_every_batch() -> None:
    fallen = {(fault.who, fault.batch) for phase in PHASES for fault in faults(phase)}
    assert fallen == {(who, batch) for who in WHO for batch in range(len(WHO))}


@pytest.mark.parametrize("phase", PHASES)
def test_each_process_is_killed_at_every_place(crash_ground: Ground, drivers: Drivers, phase: str) -> None:
    planned = faults(phase)
    batches = len(planned) + (phase in REPORTED_WITH_THE_NEXT)
    crossing = Crossing(crash_ground, phase, batches * ROWS_PER_BATCH, ROWS_PER_BATCH)
    lives, servers = drivers.lives, crash_ground.lives
    done = drivers.run(crossing.job(planned))
    assert crossing.fired() == {fault.name for fault in planned}, drivers.said
    crossing.assert_arrived()
    killed = next(fault.batch for fault in planned if fault.who == "driver")
    later = [fault.who for fault in planned if fault.batch > killed]  # what was said before is not known
    ending = [] if phase in TASK else [who for who in later if who in {"raise", "worker"}]
    assert len(done.errors) == len(ending), done.errors
    assert sum(PLANNED in error for error in done.errors) == ending.count("raise")
    assert drivers.lives - lives >= 1
    assert crash_ground.lives - servers == 1


def test_a_batch_that_spark_forgot_to_note_is_not_written_again(
    crash_ground: Ground, drivers: Drivers
) -> None:
    """Killed between the sink's commit and the entry in Spark's log: the entry is missing, no more."""
    crossing = Crossing(crash_ground, "unlogged", ROWS, ROWS_PER_BATCH)
    job = crossing.job([])
    for _ in range(2):
        assert drivers.run(job).errors == []
        crossing.assert_arrived()
        forget_last_entry(crossing.folder / "checkpoint" / "commits")
    crossing.send(ROWS_PER_BATCH)  # the batch is run again as it was, although there is more now
    assert drivers.run(job).errors == []
    crossing.assert_arrived()


def forget_last_entry(log: Path) -> None:
    last = max(int(path.name) for path in log.iterdir() if path.name.isdigit())
    (log / str(last)).unlink()
    (log / f".{last}.crc").unlink(missing_ok=True)


@pytest.mark.parametrize("phase", ["plan", "read", "staging", "publishing"])
def test_a_server_that_stays_away_is_named_and_nothing_is_lost(
    crash_ground: Ground, drivers: Drivers, phase: str
) -> None:
    crossing = Crossing(crash_ground, f"away.{phase}", ROWS, ROWS_PER_BATCH)
    planned = [Fault("server", phase, 1)]
    with crash_ground.away():
        errors = drivers.run(crossing.job(planned, timeout=0.5)).errors
    assert errors[-1] == NOT_PLANNED
    assert all("ServerGone" in error and "Start the query again" in error for error in errors[:-1]), errors
    assert drivers.run(crossing.job(planned)).errors == []  # patient, for the server is just coming back
    crossing.assert_arrived()


def test_another_query_under_a_used_name_is_refused(crash_ground: Ground, drivers: Drivers) -> None:
    crossing = Crossing(crash_ground, "taken", ROWS, ROWS_PER_BATCH)
    assert drivers.run(crossing.job([])).errors == []
    shutil.move(crossing.folder / "checkpoint", crossing.folder / "first")
    errors = drivers.run(crossing.job([], consumer="second")).errors
    assert "WriterTaken" in errors[0]
    assert "takeOver=true" in errors[0]
    assert errors[1:] == [NOT_PLANNED]
    shutil.rmtree(crossing.folder / "checkpoint")
    shutil.move(crossing.folder / "first", crossing.folder / "checkpoint")
    crossing.assert_arrived(consumers=2)
