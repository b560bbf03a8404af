"""The whole matrix: everyone who can fall, at every place, in the first, a middle and the last batch."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.spark.crash.driver import NOT_PLANNED
from tests.spark.crash.faults import COMMIT, PLANNED, PLANNING, TASK, Fault
from tests.spark.crash.harness import Crossing, Drivers, Ground

pytestmark = pytest.mark.long

ROWS, ROWS_PER_BATCH = 60, 20
BATCHES = range(3)
TOLD_OF_THE_NEXT = ("moving", "moved")
"""Spark tells of a batch when the next is logged, so never of the last."""


def faults(who: str, phase: str) -> list[Fault]:
    batches = [batch for batch in BATCHES if phase not in TOLD_OF_THE_NEXT or batch < BATCHES[-1]]
    return [Fault(who, phase, batch) for batch in batches]


@pytest.mark.parametrize("who", ["raise", "worker", "server", "driver"])
@pytest.mark.parametrize("phase", [*PLANNING, *TASK, *COMMIT])
def test_every_fall_at_every_batch(crash_ground: Ground, drivers: Drivers, who: str, phase: str) -> None:
    planned = faults(who, phase)
    crossing = Crossing(crash_ground, f"{who}.{phase}", ROWS, ROWS_PER_BATCH)
    lives, servers = drivers.lives, crash_ground.lives
    done = drivers.run(crossing.job(planned))
    assert crossing.fired() == {fault.name for fault in planned}, drivers.said
    crossing.assert_arrived()
    ends_the_query = who in {"raise", "worker"} and phase not in TASK
    assert len(done.errors) == (len(planned) if ends_the_query else 0), done.errors
    assert all(PLANNED in error for error in done.errors if who == "raise")
    if who == "driver":
        assert drivers.lives - lives >= len(planned)
    if who == "server":
        assert crash_ground.lives - servers == len(planned)


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


def test_another_query_under_the_same_name_is_refused(crash_ground: Ground, drivers: Drivers) -> None:
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
