"""Tests one query over real servers, without Spark: what is read and written, and a manager that was
restored.
"""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from reliquary.client.feed import FeedClient, StageKey
from reliquary.client.link import Link
from reliquary.client.sync.manager import Manager, connect
from reliquary.net.chance import SystemChance
from reliquary.net.identity.users import User
from reliquary.spark.connection import connected
from reliquary.spark.errors import BadOption, DataLost, QueueMissing, ServerRefused, TokenRefused
from reliquary.spark.option_list import OptionUse
from reliquary.spark.options import Writing, parse_reading, parse_writing
from reliquary.spark.sink import Part, publish, stage_part
from reliquary.spark.source import Range, Reader, read_part
from reliquary.spark.spread import Spread
from reliquary.spark.stream import StreamReader
from reliquary.store.backup import backup_stopped, restore
from tests.client.served import served

ALL = ReadAllAvailable()


@contextmanager
def running(*folders: Path) -> Iterator[tuple[str, list[Manager]]]:
    """Yield a server for each folder, named as it is; the option url, and their clients."""
    with ExitStack() as stack:
        servers = [stack.enter_context(served(folder)) for folder in folders]
        clients = [stack.enter_context(connect(each.data, control=each.control)) for each in servers]
        url = ",".join(f"{folder.name}={each.data}" for folder, each in zip(folders, servers, strict=True))
        yield url, clients


def stream(url: str, **more: str) -> StreamReader:
    options = {"url": url, "queue": "orders", "consumer": "lake"} | more
    return StreamReader(parse_reading(options, OptionUse.STREAM), ("manager", "body"))


def rows_of(reader: StreamReader, start: dict[str, Any], end: dict[str, Any]) -> list[tuple[str, str]]:
    return [
        (row["manager"], row["body"].decode())
        for part in reader.partitions(start, end)
        for batch in reader.read(part)
        for row in batch.to_pylist()
    ]


def sink(url: str, **more: str) -> Writing:
    given = {"url": url, "queue": "orders", "partitionBy": "label"} | more
    return parse_writing(given, OptionUse.SINK, queue_column=False)


def staged(options: Writing, batch: int, *bodies: str) -> Part:
    rows = pa.RecordBatch.from_pydict({"body": list(bodies), "label": list(bodies)})
    return stage_part(options, ("body", "label"), iter([rows]), StageKey("query", batch, 0, "0-x"), connected)


def bodies(manager: Manager) -> list[str]:
    return [message.body.decode() for message in manager.queue("orders").browse()]


def test_rows_go_to_all_servers_once_and_come_from_all(tmp_path: Path) -> None:
    labels = [f"row {number}" for number in range(20)]
    with running(tmp_path / "north", tmp_path / "south") as (url, (north, south)):
        for manager in (north, south):
            manager.create_queue("orders")
        options = sink(url)
        for _ in range(2):
            publish(options, "query", 0, [staged(options, 0, *labels)], connected)
        assert sorted(bodies(north) + bodies(south)) == sorted(labels)
        assert bodies(north)
        assert bodies(south)
        with pytest.raises(BadOption, match="batch 0 was published on north when its rows were spread"):
            publish(sink(url, partitionBy="body"), "query", 0, [staged(options, 0, *labels)], connected)

        reader = stream(url)
        start = reader.initialOffset()
        end = reader.latestOffset(start, ALL)
        expected = [("north", body) for body in bodies(north)] + [("south", body) for body in bodies(south)]
        assert rows_of(reader, start, end) == expected
        reader.commit(end)
        report = reader.reportLatestOffset()
        assert report is not None
        assert report["behind"] == {"north": {"orders": 0}, "south": {"orders": 0}}
        reader.stop()
        since = stream(url, startingTimestamp="2090-01-01T00:00:00Z", consumer="late")
        began = since.initialOffset()
        assert since.latestOffset(began, ALL) == began
        since.stop()


@pytest.mark.parametrize("keeper", ["lake", "audit"])
def test_a_time_finds_messages_that_applications_took_and_a_consumer_keeps(
    tmp_path: Path, keeper: str
) -> None:
    """`lake` is the consumer of an earlier checkpoint of the query; `audit` is that of another query."""
    with running(tmp_path / "north") as (url, [north]), FeedClient(url.partition("=")[2]) as client:
        orders = north.create_queue("orders")
        client.open_consumer("orders", keeper, "earliest")
        for body in ("one", "two", "three"):
            orders.send(body)
        [batch] = client.read("orders", 0, client.feeds(["orders"])[0].mark, columns=["arrived"])
        times = [column.value for column in batch.column("arrived")]
        assert times == sorted({*times}), "each message has a time of its own"
        assert batch_since(url, times[1]) == ["two", "three"]
        assert len(orders.receive_many(3)) == 3
        orders.send("four")
        for start, expected in (
            ({"startingTimestamp": "2001-01-01T00:00:00Z"}, ["one", "two", "three", "four"]),
            ({"startingOffset": f'{{"orders": "{iso(times[1])}"}}'}, ["two", "three", "four"]),
            ({"startingTimestamp": iso(times[2] + 1)}, ["four"]),
        ):
            reader = stream(url, **start)
            begun = reader.initialOffset()
            end = reader.latestOffset(begun, ALL)
            assert [body for _, body in rows_of(reader, begun, end)] == expected
            reader.stop()
            if keeper != "lake":
                client.drop_consumer("orders", "lake")
        assert batch_since(url, times[1]) == ["four"], "a batch reads what is in the queue"


def batch_since(url: str, moment: int) -> list[str]:
    """Return the bodies that a batch reads which begins at a time."""
    options = {"url": url, "queue": "orders", "startingTimestamp": iso(moment)}
    reader = Reader(parse_reading(options, OptionUse.READ), ("body",))
    return [
        row["body"].decode()
        for part in reader.partitions()
        for batch in reader.read(part)
        for row in batch.to_pylist()
    ]


def iso(moment: int) -> str:
    """Return a time in microseconds since 1970 as the options take it."""
    return datetime.fromtimestamp(moment / 1_000_000, UTC).isoformat()


def test_a_query_whose_consumer_is_paused_begins_nothing_and_goes_on_later(tmp_path: Path) -> None:
    with running(tmp_path / "north") as (url, [north]), FeedClient(url.partition("=")[2]) as client:
        orders = north.create_queue("orders")
        orders.send("one")
        reader = stream(url, queue="or*")
        start = reader.initialOffset()
        one = reader.latestOffset(start, ALL)
        assert rows_of(reader, start, one) == [("north", "one")]

        client.set_consumer("orders", "lake", paused=True)
        north.create_queue("orders-2").send("other")
        client.open_consumer("orders-2", "lake", "earliest")
        client.set_consumer("orders-2", "lake", paused=True)
        orders.send("two")
        assert len(orders.receive_many(2)) == 2
        again = stream(url, queue="or*")
        assert rows_of(again, start, one) == [("north", "one")], "what was begun is read again"
        begun = reader.latestOffset(one, ALL)
        assert rows_of(reader, one, begun) == []
        assert reader.latestOffset(begun, ALL) == begun
        again.prepareForTriggerAvailableNow()
        assert again.latestOffset(begun, ALL) == begun
        again.stop()
        reader.commit(begun)

        client.set_consumer("orders", "lake", paused=False)
        two = reader.latestOffset(begun, ALL)
        assert rows_of(reader, begun, two) == [("north", "two")], "nothing is lost by the pause"
        client.set_consumer("orders-2", "lake", paused=False)
        three = reader.latestOffset(two, ALL)
        assert rows_of(reader, two, three) == [("north", "other")]
        reader.stop()


def test_each_error_names_the_manager_and_the_queue(tmp_path: Path) -> None:
    """One manager refuses the token, and the other one has no queue of the name."""
    root = User(name="root", token_sha256=sha256(b"secret").hexdigest(), groups=("administrators",))
    file = tmp_path / "managers.toml"
    rows = {}  # a label for each manager
    for number in range(20):
        rows[Spread(["north", "south"]).manager_of(b"%d" % number)] = str(number)
    with (
        served(tmp_path / "north", users=(root,)) as north,
        served(tmp_path / "south") as south,
        connect(north.data, control=north.control, token="secret") as manager,
    ):
        manager.create_queue("orders").send("one")

        def managers(token: str) -> str:
            file.write_text(
                f'[managers]\nnorth = {{url = "{north.data}", token = "{token}"}}\nsouth = "{south.data}"\n'
            )
            return str(file)

        given = {"managers": managers("wrong"), "queue": "orders"}
        source = parse_reading(given | {"consumer": "lake"}, OptionUse.STREAM)
        batch = parse_reading(given, OptionUse.READ)
        target = parse_writing(given | {"partitionBy": "label"}, OptionUse.SINK, queue_column=False)
        at_north = "the queue 'orders at north'.*option token"
        unknown = StreamReader(source, ("body",))
        for work in (
            unknown.initialOffset,
            Reader(batch, ("body",)).partitions,
            lambda: [*read_part(batch, ("body",), Range("north", "orders", "", 0, 1), connected)],
            lambda: staged(target, 0, rows["north"]),
            lambda: publish(target, "query", 0, [], connected),
        ):
            with pytest.raises(TokenRefused, match=at_north):
                work()
        unknown.stop()
        fault = staged(target, 0, rows["south"]).fault
        assert isinstance(fault, QueueMissing)
        assert str(fault).startswith("writing part 0: the queue 'orders at south': ")

        right = parse_reading(given | {"managers": managers("secret"), "consumer": "lake"}, OptionUse.STREAM)
        reader = StreamReader(right, ("body",))
        with pytest.raises(QueueMissing, match="there is no queue 'orders at south': create it"):
            reader.initialOffset()
        reader.stop()


def test_servers_that_are_silent_are_skipped_and_the_others_are_read(tmp_path: Path) -> None:
    """They take connections, as a server that hangs does, and never answer."""
    with ExitStack() as stack:
        silent = [stack.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(2)]
        url, [north] = stack.enter_context(running(tmp_path / "north"))
        north.create_queue("orders")
        one, two = (f"http://127.0.0.1:{each.getsockname()[1]}" for each in silent)
        reader = stream(f"gone-0={one},{url},gone-1={two}", onManagerGone="skip", timeout="1")
        start = reader.initialOffset()
        for body in ("one", "two"):
            north.queue("orders").send(body)
            end = reader.latestOffset(start, ALL)
            assert rows_of(reader, start, end) == [("north", body)]
            reader.commit(end)
            report = reader.reportLatestOffset()
            assert report is not None
            assert report["away"] == ["gone-0", "gone-1"]
            start = end
        reader.stop()


def test_rows_that_travel_compressed_are_equal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path / "north") as (url, [north]):
        north.create_queue("orders").send_many([str(number) * 50 for number in range(9)])
        asked: set[str] = set()
        reading = Link.reading

        def noted(link: Link, path: str) -> Any:
            asked.update(parse_qs(urlsplit(path).query).get("compression", ["none"]))
            return reading(link, path)

        monkeypatch.setattr(Link, "reading", noted)
        found = []
        for way in ("none", "lz4", "zstd"):
            reader = stream(url, compression=way, consumer=way)
            start = reader.initialOffset()
            found.append(rows_of(reader, start, reader.latestOffset(start, ALL)))
            reader.stop()
        assert found == [[("north", str(number) * 50) for number in range(9)]] * 3
        assert asked == {"none", "lz4", "zstd"}


def test_a_manager_that_was_restored_under_a_running_query_is_noticed(tmp_path: Path) -> None:
    """The manager has passed the old numbers; the query kept its checkpoint, and the sink its batches."""
    north, south = tmp_path / "north", tmp_path / "south"
    with running(north, south) as (url, managers):
        for manager in managers:
            manager.create_queue("orders")
        opened = stream(url)
        start = opened.initialOffset()
        opened.stop()
    backup_stopped(south, tmp_path / "backup")
    with running(north, south) as (url, managers):
        options = sink(url)
        for batch in range(2):
            publish(options, "query", batch, [staged(options, batch, f"a {batch}", f"b {batch}")], connected)
        for manager in managers:
            manager.queue("orders").send("late")
        reader = stream(url)
        end = reader.latestOffset(start, ALL)
        assert len(rows_of(reader, start, end)) == 6
        reader.stop()
    south.rename(tmp_path / "lost")
    restore(tmp_path / "backup", south, SystemChance())
    with running(north, south) as (url, managers):
        managers[1].queue("orders").send_many([str(number) for number in range(50)])
        reader = stream(url)
        with pytest.raises(DataLost, match=r"'orders at south' up to \d+, and .* restored from a backup"):
            reader.latestOffset(end, ALL)
        reader.stop()
        lenient = stream(url, failOnDataLoss="false")
        after = lenient.latestOffset(end, ALL)
        assert len(rows_of(lenient, end, after)) == 50
        report = lenient.reportLatestOffset()
        assert report is not None
        assert list(report["holes"]) == ["south"]
        lenient.stop()

        options = sink(url)
        part = staged(options, 2, "a 2", "b 2", "c 2", "d 2")
        with pytest.raises(
            ServerRefused, match="does not know query: if it published its batches 0 to 1 here"
        ):
            publish(options, "query", 2, [part], connected)
        publish(sink(url, takeOver="true"), "query", 2, [part], connected)
        assert {"a 2", "b 2", "c 2", "d 2"} <= {*bodies(managers[0]), *bodies(managers[1])}
