"""A slice goes once and in its order, however often it is tried; another one under its name is refused."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.lake import run_lake
from reliquary.spark.pipelines.replay import ReplayReport, ReplaySettings, run_replay
from reliquary.spark.pipelines.settings import LakeSettings
from tests.spark.pipelines.feeds import at, files_feed, message, write_messages

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession


class Ledger:
    """A queue that takes every write once by its name, as the server does."""

    def __init__(self) -> None:
        self.taken: dict[str, list[bytes]] = {}
        self.dies_after = 99

    def write(self, frame: DataFrame, _: ReplaySettings, run_id: str) -> None:
        if run_id not in self.taken:
            self.taken[run_id] = [bytes(row["body"]) for row in frame.collect()]
        self.dies_after -= 1
        if not self.dies_after:
            raise OSError("no more")

    @property
    def bodies(self) -> list[bytes]:
        return [body for bodies in self.taken.values() for body in bodies]


def body(number: int) -> bytes:
    return b'{"order": %d}' % number


@pytest.fixture(scope="module")
def lake(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Thirty orders in three batches, each written from the last to the first, and something else."""
    folder = tmp_path_factory.mktemp("replay")
    for batch in range(3):
        numbers = range(batch * 10 + 9, batch * 10 - 1, -1)
        rows = [message(number, body(number), after=number) for number in numbers]
        write_messages(folder / "feed", f"{batch}", [*rows, message(batch, b"x", queue="other")])
    settings = LakeSettings(lake=folder / "lake", queues=("orders",))
    run_lake(spark, settings, feed=files_feed(folder / "feed"))
    return folder / "lake"


def replay(spark: SparkSession, lake: Path, ledger: Ledger, **more: Any) -> ReplayReport:
    settings = ReplaySettings(lake=lake, **({"to_queue": "again", "queue": "orders"} | more))
    return run_replay(spark, settings, write=ledger.write)


def test_a_replay_that_died_and_is_run_again_sends_each_message_once_in_order(
    spark: SparkSession, lake: Path
) -> None:
    ledger = Ledger()
    planned = replay(spark, lake, ledger, dry_run=True)
    assert (planned.rows, planned.chunks, planned.sent, ledger.taken) == (30, 3, 0, {})
    ledger.dies_after = 2  # after the server took the second chunk, before that is noted
    with pytest.raises(OSError, match="no more"):
        replay(spark, lake, ledger)
    assert replay(spark, lake, ledger).sent == 20
    assert replay(spark, lake, ledger).sent == 0
    assert ledger.bodies == [body(number) for number in range(30)]
    # one run id for another slice, or another queue
    with pytest.raises(UsageError, match="had 30 messages when it began and is another one now, of 5"):
        replay(spark, lake, ledger, run_id=planned.run_id, until=at(5))
    one = {"run_id": "one", "until": at(5), "where": "feed_id <> 3"}
    assert replay(spark, lake, Ledger(), **one).sent == 4
    with pytest.raises(UsageError, match="had 4 messages when it began and is another one now, of 4"):
        replay(spark, lake, Ledger(), **(one | {"where": "feed_id <> 4"}))
    with pytest.raises(UsageError, match="went to again"):
        replay(spark, lake, ledger, run_id=planned.run_id, to_queue="elsewhere")


def test_a_slice_of_silver_is_found_by_what_was_decoded_and_goes_as_it_came(
    spark: SparkSession, lake: Path
) -> None:
    ledger = Ledger()
    where = "variant_get(data, '$.order', 'int') % 10 = 7"
    assert replay(spark, lake, ledger, layer="silver", where=where, since=at(10)).rows == 2
    assert ledger.bodies == [body(17), body(27)]
    with pytest.raises(UsageError, match="is no condition on silver"):
        replay(spark, lake, ledger, layer="silver", where="nothing = 1")


def test_messages_of_two_managers_with_one_place_are_distinct(spark: SparkSession, tmp_path: Path) -> None:
    """A lake reads one server; earlier builds could be given several."""
    rows = [message(1, body(number), manager=name) for number, name in ((7, "south"), (8, "north"))]
    write_messages(tmp_path / "feed", "one", rows)
    settings = LakeSettings(lake=tmp_path / "lake", queues=("orders",))
    run_lake(spark, settings, feed=files_feed(tmp_path / "feed"))
    for where, bodies in (("manager = 'south'", [body(7)]), ("true", [body(8), body(7)])):
        ledger = Ledger()
        replay(spark, tmp_path / "lake", ledger, layer="silver", where=where)
        assert ledger.bodies == bodies


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"to_queue": ""}, "--to-queue"),
        ({"layer": "gold"}, "bronze or silver"),
        ({"since": at(0).replace(tzinfo=None)}, "since needs a time zone"),
        ({"since": at(1), "until": at(1)}, "not before until"),
    ],
)
def test_what_is_wrong_is_named(more: dict[str, Any], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        ReplaySettings(**({"lake": Path("lake"), "to_queue": "again"} | more))  # type: ignore[arg-type]


def test_the_name_of_a_replay_says_slice_target_and_lake() -> None:
    one = ReplaySettings(lake=Path("lake"), to_queue="again", queue="orders")
    others = [
        ReplaySettings(lake=Path("lake"), to_queue="again", queue="order"),
        ReplaySettings(lake=Path("lake"), to_queue="again2", queue="orders"),
        ReplaySettings(lake=Path("lake"), to_queue="again", queue="orders", until=at(0)),
    ]
    names = [one.name_of("a"), one.name_of("b"), *(other.name_of("a") for other in others)]
    assert len(set(names)) == len(names)
    assert ReplaySettings(lake=Path("x"), to_queue="again", queue="orders").name_of("a") == names[0]
