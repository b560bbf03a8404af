"""Tests the sink against a server in memory: staged unseen, published once, in order, and taken back."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import msgspec
import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from pyspark import TaskContext

from reliquary.client.errors import BadRequest, QueueNotFound, ServerUnreachable, error_of
from reliquary.client.feed import StageKey
from reliquary.spark.errors import (
    BadOption,
    BadRow,
    QueueMissing,
    ServerGone,
    SparkFault,
    StagesGone,
    TokenRefused,
    WriterTaken,
)
from reliquary.spark.option_list import OptionUse
from reliquary.spark.options import Writing, parse_writing
from reliquary.spark.sink import Part, StreamWriter, Writer, query_of_checkpoint, stage_part
from tests.spark.feed_double import Double, World, Worlds

NAMES = ("body", "label")


def options(use: OptionUse = OptionUse.SINK, **more: str) -> Writing:
    return parse_writing({"url": "http://server:1", "queue": "out"} | more, use, queue_column=False)


def batches(*bodies: str) -> Iterator[pa.RecordBatch]:
    for body in bodies:
        yield pa.RecordBatch.from_pydict({"lookup_id": [7], "label": [body], "body": [body]})


class Task:
    """The context that Spark gives to a task."""

    def __init__(self, partition: int, batch: int | None = 0, query: str = "query-1") -> None:
        self.partition = partition
        self.properties = {"sql.streaming.queryId": query, "streaming.sql.batchId": str(batch)}

    def partitionId(self) -> int:  # noqa: N802 - Spark's name
        return self.partition

    def attemptNumber(self) -> int:  # noqa: N802 - Spark's name
        return 0

    def getLocalProperty(self, name: str) -> str | None:  # noqa: N802 - Spark's name
        return self.properties.get(name)


@pytest.fixture
def tasks(monkeypatch: pytest.MonkeyPatch) -> list[Task]:
    """Return the tasks that write one after the other."""
    waiting: list[Task] = []
    monkeypatch.setattr(TaskContext, "get", lambda: waiting.pop(0))
    return waiting


def bodies(world: World) -> list[str]:
    return [row["body"].decode() for row in world.published]


def test_parts_are_unseen_until_the_commit_and_then_in_their_order(tasks: list[Task]) -> None:
    world = World()
    writer = StreamWriter(options(), NAMES, world.connect)
    tasks += [Task(1), Task(0)]
    second, first = writer.write(batches("c")), writer.write(batches("a", "b"))
    assert bodies(world) == []
    writer.commit([first, second], 0)
    assert bodies(world) == ["a", "b", "c"]
    assert world.published[0] == {"queue": "out", "part": 0, "body": b"a", "label": "a"}


def test_a_batch_again_is_no_second_one(tasks: list[Task]) -> None:
    world = World()
    writer = StreamWriter(options(), NAMES, world.connect)
    for _ in range(2):
        tasks.append(Task(0))
        writer.commit([writer.write(batches("a"))], 0)
    assert bodies(world) == ["a"]
    tasks.append(Task(0, batch=1))
    writer.commit([writer.write(batches("b"))], 1)
    assert bodies(world) == ["a", "b"]


def test_an_abort_takes_back_what_was_staged_and_nothing_else(tasks: list[Task]) -> None:
    world = World()
    writer = StreamWriter(options(), NAMES, world.connect)
    tasks += [Task(0), Task(0, batch=1)]
    done = writer.write(batches("a"))
    writer.commit([done], 0)
    lost = writer.write(batches("b"))
    writer.abort([done], 0)
    writer.abort([lost, None], 1)
    assert world.stages == {}
    assert bodies(world) == ["a"]


def test_an_abort_does_not_hide_why_it_was_called() -> None:
    def gone(access: object) -> Any:
        raise ServerUnreachable

    StreamWriter(options(), NAMES, gone).abort([Part("q", 0, 1, (("server:1", 7),))], 0)


def test_an_empty_part_is_not_staged_and_the_batch_is_noted(tasks: list[Task]) -> None:
    world = World()
    writer = StreamWriter(options(), NAMES, world.connect)
    tasks.append(Task(0, batch=4))
    part = writer.write(iter([]))
    assert part == Part("query-1", 4, 0)
    writer.commit([part], 4)
    assert world.ledger == {"query-1": 4}


def test_without_a_message_the_checkpoint_tells_the_query(tmp_path: Path) -> None:
    world = World()
    (tmp_path / "metadata").write_text('{"id":"query-9"}')
    for location in (str(tmp_path), tmp_path.as_uri()):
        assert query_of_checkpoint(location) == "query-9"
    StreamWriter(options(checkpointLocation=str(tmp_path)), NAMES, world.connect).commit([], 3)
    assert world.ledger == {"query-9": 3}
    StreamWriter(options(), NAMES, world.connect).commit([None], 3)
    assert world.ledger == {"query-9": 3}


@pytest.mark.parametrize("location", ["", "hdfs://there/x", "no/such/folder"])
def test_a_checkpoint_elsewhere_tells_nothing(location: str) -> None:
    assert query_of_checkpoint(location) is None


def test_two_queries_under_one_writer_are_one_too_many(tasks: list[Task]) -> None:
    world = World()
    tasks += [Task(0, query="query-1"), Task(0, query="query-2")]
    writer = StreamWriter(options(writerId="out"), NAMES, world.connect)
    writer.commit([writer.write(batches("a"))], 0)
    part = writer.write(batches("b"))
    with pytest.raises(WriterTaken, match="query-1 writes as out: stop the other query"):
        writer.commit([part], 0)
    StreamWriter(options(writerId="out", takeOver="true"), NAMES, world.connect).commit([part], 0)
    assert bodies(world) == ["a", "b"]


def test_a_batch_write_is_known_by_its_run(tasks: list[Task]) -> None:
    world = World()
    for run in ("june", "june", ""):
        tasks.append(Task(0))
        more = {"runId": run} if run else {}
        writer = Writer(options(OptionUse.WRITE, **more), NAMES, world.connect)
        writer.commit([writer.write(batches("a"))])
    assert bodies(world) == ["a", "a"]
    assert len(world.ledger) == 2
    tasks.append(Task(0))
    last = Writer(options(OptionUse.WRITE), NAMES, world.connect)
    last.abort([last.write(batches("b"))])
    assert list(world.stages.values()) == [[{"queue": "out", "part": 0, "body": b"a", "label": "a"}]]


def test_a_bad_row_is_reported_in_the_words_of_the_server() -> None:
    class Refusing(Double):
        def stage(self, *given: object, **more: object) -> Any:
            raise BadRequest("INVALID_PARAMETER", "row 17 (of part 3): a priority is 0 to 7, not 9")

    def refusing(access: object) -> Any:
        return Refusing(World())

    part = stage_part(options(), NAMES, batches("a"), StageKey("q", 0, 3, "0-x"), refusing)
    assert part.stages == (), "the task has not failed: Spark would only try it three times more"
    with pytest.raises(
        BadRow, match=r"row 17 \(of part 3\): a priority is 0 to 7, not 9; nothing of the batch"
    ):
        StreamWriter(options(), NAMES, refusing).commit([Part("q", 0, 1, (("server:1", 5),)), part], 0)


def test_a_queue_that_does_not_exist_fails_the_commit_and_not_the_task() -> None:
    class Refusing(Double):
        def stage(self, *given: object, **more: object) -> Any:
            raise QueueNotFound("QUEUE_NOT_FOUND", "out: the queue does not exist")

    def refusing(access: object) -> Any:
        return Refusing(World())

    part = stage_part(options(), NAMES, batches("a"), StageKey("q", 0, 3, "0-x"), refusing)
    sent = pickle.loads(pickle.dumps(part))  # noqa: S301 - as Spark sends it to the driver
    with pytest.raises(QueueMissing, match="writing part 3: out: the queue does not exist: create the queue"):
        StreamWriter(options(), NAMES, refusing).commit([sent], 0)


def test_a_bad_row_publishes_nothing_and_the_abort_takes_back_the_rest(tasks: list[Task]) -> None:
    world = World()
    writer = StreamWriter(options(), NAMES, world.connect)
    tasks.append(Task(0))
    good = writer.write(batches("a"))
    bad = Part("query-1", 0, 0, fault=BadRow("row 1 is bad"))
    with pytest.raises(BadRow, match="row 1 is bad"):
        writer.commit([good, bad], 0)
    writer.abort([good, bad], 0)
    assert (world.published, world.stages, world.ledger) == ([], {}, {})


def test_a_server_that_is_gone_is_named() -> None:
    class Gone(Double):
        def publish(self, *given: object, **more: object) -> Any:
            raise ServerUnreachable

    def gone(access: object) -> Any:
        return Gone(World())

    writer = StreamWriter(options(), NAMES, gone)
    with pytest.raises(
        ServerGone, match="publishing batch 5: the server does not answer: is the option url right"
    ):
        writer.commit([Part("q", 5, 0)], 5)


# -- several managers


class Ground:
    """Three managers, and a sink that spreads rows over them by their label."""

    def __init__(self, *names: str, **more: str) -> None:
        self.worlds = Worlds({name: World() for name in ("north", "south", "west")})
        self.names = names or ("north", "south", "west")
        self.more = more

    def writer(self, *names: str) -> StreamWriter:
        url = ",".join(f"{name}=http://{name}:1" for name in names or self.names)
        given = options(OptionUse.SINK, url=url, partitionBy="label", **self.more)
        return StreamWriter(given, NAMES, self.worlds.connect)

    def bodies(self) -> dict[str, list[str]]:
        return {name: bodies(world) for name, world in self.worlds.by_name.items()}


LABELS = [f"label-{number}" for number in range(40)]


def test_each_row_goes_to_one_manager_and_the_batch_is_noted_on_all(tasks: list[Task]) -> None:
    ground = Ground()
    writer = ground.writer()
    for batch in range(2):
        tasks.append(Task(0, batch=batch))
        writer.commit([writer.write(batches(*LABELS))], batch)
    found = ground.bodies()
    assert sorted(body for rows in found.values() for body in rows) == sorted(LABELS * 2)
    for rows in found.values():
        assert rows, "every manager has some"
        assert rows == [label for label in LABELS if label in rows] * 2, "each in its order, as before"
    tasks.append(Task(0, batch=2))
    writer.commit([writer.write(batches("x"))], 2)
    assert [world.ledger["query-1"] for world in ground.worlds.by_name.values()] == [2, 2, 2]
    assert sum(map(len, ground.bodies().values())) == 81


def test_a_batch_that_only_some_managers_have_is_there_once_after_a_second_run(tasks: list[Task]) -> None:
    ground = Ground()
    tasks += [Task(0), Task(0)]
    writer = ground.writer()
    part = writer.write(batches(*LABELS))
    ground.worlds.by_name["south"].away = True
    with pytest.raises(ServerGone):
        writer.commit([part], 0)
    writer.abort([part], 0)
    ground.worlds.by_name["south"].away = False
    assert ground.bodies()["west"] == []
    again = ground.writer()
    again.commit([again.write(batches(*LABELS))], 0)
    assert sorted(body for rows in ground.bodies().values() for body in rows) == sorted(LABELS)


def test_managers_may_not_change_in_the_middle_of_a_batch(tasks: list[Task]) -> None:
    ground = Ground("north", "south")
    tasks += [Task(0), Task(0), Task(0), Task(0, batch=1)]
    writer = ground.writer()
    part = writer.write(batches(*LABELS))

    class Fallen(Exception):
        pass

    def falls(access: Any) -> Any:
        client: Double = ground.worlds.connect(access)
        if access.name == "south":
            client.publish = lambda *given, **more: (_ for _ in ()).throw(Fallen)  # type: ignore[method-assign]
        return client

    fallen = StreamWriter(writer._options, NAMES, falls)
    with pytest.raises(Fallen):
        fallen.commit([part], 0)
    other = ground.writer("north", "south", "west")
    with pytest.raises(BadOption, match="batch 0 was published on north when its rows were spread"):
        other.commit([other.write(batches(*LABELS))], 0)
    assert ground.bodies()["west"] == []
    writer.commit([writer.write(batches(*LABELS))], 0)
    assert sorted(body for rows in ground.bodies().values() for body in rows) == sorted(LABELS)
    other.commit([other.write(batches("more"))], 1)
    assert sum(map(len, ground.bodies().values())) == len(LABELS) + 1


def test_a_sink_can_wait_for_a_manager(tasks: list[Task], monkeypatch: pytest.MonkeyPatch) -> None:
    ground = Ground(onManagerGone="wait")
    waited: list[float] = []

    def wait(seconds: float) -> None:
        waited.append(seconds)
        if len(waited) in {2, 4}:
            ground.worlds.by_name["south"].away = False

    monkeypatch.setattr("reliquary.spark.sink.time", SimpleNamespace(sleep=wait))  # other threads sleep too
    writer = ground.writer()
    tasks.append(Task(0))
    ground.worlds.by_name["south"].away = True
    part = writer.write(batches(*LABELS))
    assert len(waited) == 2
    ground.worlds.by_name["south"].away = True
    writer.commit([part], 0)
    assert len(waited) == 4
    assert sorted(body for rows in ground.bodies().values() for body in rows) == sorted(LABELS)


@pytest.mark.parametrize(
    ("call", "code", "fault"),
    [
        ("writer", "ACCESS_DENIED", TokenRefused),
        ("publish", "WRITER_TAKEN", WriterTaken),
        ("publish", "STAGE_GONE", StagesGone),
        ("publish", "BATCH_TOO_LARGE", BadOption),
        ("publish", "UNAUTHENTICATED", TokenRefused),
        ("publish", "SERVER_UNREACHABLE", ServerGone),
        ("stage", "UNAUTHENTICATED", TokenRefused),
        ("stage", "SERVER_UNREACHABLE", ServerGone),
        ("stage", "QUEUE_NOT_FOUND", QueueMissing),
        ("stage", "INVALID_PARAMETER", BadRow),
    ],
)
@pytest.mark.parametrize(
    ("queue", "place"), [("out", "the queue 'out at south'"), ("", "the manager 'south'")]
)
def test_an_error_of_the_sink_names_the_manager(
    tasks: list[Task], call: str, code: str, fault: type[SparkFault], queue: str, place: str
) -> None:
    ground = Ground()

    class Refusing(Double):
        def __getattribute__(self, name: str) -> Any:
            if name == call:
                raise error_of(code, "it is refused")
            return super().__getattribute__(name)

    def refusing(access: Any) -> Any:
        world = ground.worlds.by_name[access.name]
        return Refusing(world) if access.name == "south" else Double(world)

    given = msgspec.structs.replace(ground.writer()._options, queue=queue)
    writer = StreamWriter(given, NAMES, refusing)
    tasks.append(Task(0))
    with pytest.raises(fault, match=f"{place}: it is refused"):
        writer.commit([writer.write(batches(*LABELS))], 0)


def test_an_error_of_a_manager_ends_the_wait_of_the_sink_for_another_one(tasks: list[Task]) -> None:
    ground = Ground(onManagerGone="wait", writerId="out")
    tasks += [Task(0), Task(0, query="query-2")]
    writer = ground.writer()
    writer.commit([writer.write(batches(*LABELS))], 0)
    part = writer.write(batches(*LABELS))
    asked = Event()

    class Going(Double):
        def publish(self, *given: Any, **more: Any) -> Any:
            asked.set()
            self.world.away = True
            return super().publish(*given, **more)

    class Taken(Double):
        def publish(self, *given: Any, **more: Any) -> Any:
            asked.wait()
            return super().publish(*given, **more)

    def connect(access: Any) -> Any:
        kind = {"north": Taken, "south": Going}.get(access.name, Double)
        return kind(ground.worlds.by_name[access.name])

    with pytest.raises(WriterTaken, match="the queue 'out at north': query-1 writes as out"):
        StreamWriter(writer._options, NAMES, connect).commit([part], 0)


def test_a_bad_row_on_one_manager_breaks_off_the_others(tasks: list[Task]) -> None:
    ground = Ground()

    class Refusing(Double):
        def stage(self, *given: Any, **more: Any) -> Any:
            next(iter(given[2]))
            raise BadRequest("INVALID_PARAMETER", "row 0 (of part 0): it is bad")

    def refusing(access: Any) -> Any:
        world = ground.worlds.by_name[access.name]
        return Refusing(world) if access.name == "south" else Double(world)

    writer = StreamWriter(ground.writer()._options, NAMES, refusing)
    tasks.append(Task(0))
    part = writer.write(batches(*LABELS))
    expected = "the queue 'out at south': row 0 (of part 0): it is bad; nothing of the batch was published"
    assert str(part.fault).startswith(expected)
    assert [world.stages for world in ground.worlds.by_name.values()] == [{}, {}, {}]
