"""Tests of ranges of a feed over HTTP: equal rows however they are cut, and never a part taken for all."""

from __future__ import annotations

from http.client import HTTPConnection
from itertools import pairwise
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import reliquary
from reliquary import Queue, ReliquaryError, ServerUnreachable
from reliquary.client.errors import DataLost
from reliquary.client.feed import Bounds, FeedClient
from reliquary.net.feed import columns_out, reading
from reliquary.server.api import ApiEndpoint
from tests.client.served import Served, served
from tests.net.feed.asked import call, refused
from tests.server.endpoints import endpoint_of

LARGE = b"x" * 1_000_000


def rows(
    client: FeedClient, queue: str, after: int, until: int, consumer: str = ""
) -> list[dict[str, object]]:
    """Return the places and bodies of a range."""
    columns = ["feed_id", "body"]
    return [
        row
        for batch in client.read(queue, after, until, columns=columns, consumer=consumer)
        for row in batch.to_pylist()
    ]


@pytest.fixture(scope="module")
def reported(client: FeedClient, server: Served) -> tuple[str, int, list[dict[str, object]]]:
    """Return a feed of which some has left its queue, its mark and all of its rows."""
    with reliquary.connect(server.data, control=server.control) as manager:
        queue = manager.create_queue("reported")
        client.open_consumer("reported", "lake", "earliest")
        for number in range(40):
            queue.send(f"m{number}", priority=number % 8)
            if number % 3 == 0:
                queue.receive()
    mark = client.feeds(["reported"])[0].mark
    return "reported", mark, rows(client, "reported", 0, mark, "lake")


def test_a_consumer_gets_what_has_left_its_queue(reported: tuple[str, int, list[dict[str, object]]]) -> None:
    _, _, whole = reported
    assert [row["body"] for row in whole] == [f"m{number}".encode() for number in range(40)]


def test_another_consumer_gets_the_messages_that_are_not_deleted(
    client: FeedClient, reported: tuple[str, int, list[dict[str, object]]]
) -> None:
    queue, mark, whole = reported
    assert len(rows(client, queue, 0, mark)) == 26
    assert len(whole) == 40


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_any_cuts_give_the_whole(
    client: FeedClient,
    reported: tuple[str, int, list[dict[str, object]]],
    monkeypatch: pytest.MonkeyPatch,
    data: st.DataObject,
) -> None:
    queue, mark, whole = reported
    monkeypatch.setattr(reading, "PAGE", data.draw(st.integers(1, 50)))
    cuts = sorted(data.draw(st.sets(st.integers(0, mark), max_size=4)) | {0, mark})
    found = [row for after, until in pairwise(cuts) for row in rows(client, queue, after, until, "lake")]
    assert found == whole


def test_bounds_leave_out_what_lies_beyond(client: FeedClient, queue: Queue) -> None:
    sent = queue.send_many(["a", "b", "c"])
    mark = client.feeds([queue.name])[0].mark
    for bounds, expected in (
        (Bounds(from_lookup=sent[1].lookup_id), [b"b", b"c"]),
        (Bounds(to_lookup=sent[1].lookup_id), [b"a", b"b"]),
        (Bounds(to_time=1), []),
        (Bounds(from_time=1), [b"a", b"b", b"c"]),
    ):
        batches = client.read(queue.name, 0, mark, columns=["body"], bounds=bounds)
        assert [body for batch in batches for body in batch.column(0).to_pylist()] == expected


def test_the_queue_has_its_own_name_in_every_row(client: FeedClient, queue: Queue) -> None:
    queue.send("a")
    mark = client.feeds([queue.name])[0].mark
    [batch] = client.read(f"private$\\{queue.name}", 0, mark, columns=["queue", "label"])
    assert batch.to_pylist() == [{"queue": queue.name, "label": ""}]


def test_runs_come_only_to_those_who_take_them(client: FeedClient, server: Served, queue: Queue) -> None:
    for number in range(3):
        queue.send(f"m{number}", label="equal")
    mark = client.feeds([queue.name])[0].mark
    path = f"/queues/{queue.name}/feed?after=0&until={mark}&columns=body,label,priority,soap_body"
    _, plain = call(server.data, "GET", path)
    _, runs = call(server.data, "GET", f"{path}&encoding=runs")
    kinds = [pa.binary(), pa.string(), pa.int32(), pa.string()]
    assert pa.ipc.open_stream(plain).schema.types == kinds
    in_runs = [pa.run_end_encoded(pa.int32(), kind) for kind in kinds]
    assert pa.ipc.open_stream(runs).schema.types == [*kinds[:2], *in_runs[2:]]
    [batch] = client.read(queue.name, 0, mark, columns=["body", "label", "priority", "soap_body"])
    assert batch.to_pylist() == pa.ipc.open_stream(plain).read_all().to_pylist()


@pytest.mark.parametrize("compression", ["lz4", "zstd"])
def test_rows_travel_compressed_for_those_who_ask(server: Served, queue: Queue, compression: str) -> None:
    queue.send(b"a" * 5000, label="x")
    queue.send(b"b" * 5000, label="y")
    with FeedClient(server.data) as plain, FeedClient(server.data, compression=compression) as asking:
        mark = plain.feeds([queue.name])[0].mark
        found = [list(client.read(queue.name, 0, mark)) for client in (plain, asking)]
    assert found[0] == found[1]
    assert [row["body"][:1] for batch in found[1] for row in batch.to_pylist()] == [b"a", b"b"]
    path = f"/queues/{queue.name}/feed?after=0&until={mark}&columns=body,label,priority&encoding=runs"
    _, whole = call(server.data, "GET", path)
    _, small = call(server.data, "GET", f"{path}&compression={compression}")
    assert len(small) < len(whole) / 2


def test_a_range_without_rows_is_a_stream_with_a_schema(server: Served, queue: Queue) -> None:
    status, answer = call(server.data, "GET", f"/queues/{queue.name}/feed?after=0&until=0")
    assert status == 200
    assert answer.endswith(b"\xff\xff\xff\xff\0\0\0\0")
    status, answer = call(server.data, "HEAD", f"/queues/{queue.name}/feed?after=0&until=0")
    assert (status, answer) == (200, b"")


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("until=1", "after is missing"),
        ("after=1", "until is missing"),
        ("after=0&until=0&columns=bodies", "there is no column 'bodies'"),
        ("after=0&until=0&columns=body,body", "asked for twice"),
        ("after=0&until=0&limit=5", "the query has no parameter 'limit'"),
        ("after=0&until=0&encoding=gzip", "encoding is runs, or not given, not 'gzip'"),
        ("after=0&until=0&compression=gzip", "compression is lz4, zstd, or not given, not 'gzip'"),
        ("after=0&until=99999999", "a place in this feed is 0 to"),
    ],
)
def test_a_wrong_request_is_refused_with_the_reason(
    server: Served, queue: Queue, query: str, sentence: str
) -> None:
    status, code, error = refused(server.data, "GET", f"/queues/{queue.name}/feed?{query}")
    assert (status, code) == (400, "INVALID_PARAMETER")
    assert sentence in error


def test_a_consumer_that_goes_meanwhile_ends_its_stream_and_not_as_if_whole(
    client: FeedClient, queue: Queue
) -> None:
    client.open_consumer(queue.name, "lake", "earliest")
    for _ in range(60):
        queue.send(LARGE)
    mark = client.feeds([queue.name])[0].mark
    batches = client.read(queue.name, 0, mark, consumer="lake")
    assert next(batches).num_rows
    client.drop_consumer(queue.name, "lake")
    queue.purge()
    with pytest.raises(ServerUnreachable, match="broke off in the middle"):
        list(batches)
    with pytest.raises(DataLost, match="no consumer 'lake'"):
        list(client.read(queue.name, 0, mark, consumer="lake"))


def test_a_client_that_hangs_up_is_not_served_on(server: Served, queue: Queue, client: FeedClient) -> None:
    for _ in range(40):
        queue.send(LARGE)
    batches = client.read(queue.name, 0, client.feeds([queue.name])[0].mark)
    next(batches)
    assert endpoint_of(server.server, ApiEndpoint).feeds.under_way == 1
    batches.close()  # type: ignore[attr-defined]
    while endpoint_of(server.server, ApiEndpoint).feeds.under_way:
        client.feeds([queue.name])


def test_a_server_that_stops_cuts_off_what_is_under_way(tmp_path: Path) -> None:
    with served(tmp_path / "s") as running, FeedClient(running.data, pauses=()) as client:
        with reliquary.connect(running.data, control=running.control) as manager:
            queue = manager.create_queue("orders")
            for _ in range(40):
                queue.send(LARGE)
        batches = client.read("orders", 0, client.feeds(["orders"])[0].mark)
        next(batches)
        running.portal.call(running.server.stop())
        with pytest.raises(ServerUnreachable, match="broke off in the middle"):
            list(batches)
        with pytest.raises(ReliquaryError):
            client.feeds(["orders"])


def test_a_slow_reader_holds_up_its_own_stream_alone(
    server: Served, queue: Queue, client: FeedClient
) -> None:
    for _ in range(60):
        queue.send(LARGE)
    connection = HTTPConnection(urlsplit(server.data).netloc)
    mark = client.feeds([queue.name])[0].mark
    connection.request("GET", f"/api/v1/queues/{queue.name}/feed?after=0&until={mark}&columns=body")
    response = connection.getresponse()
    response.read(10)
    queue.send("meanwhile")
    assert len(response.read()) > 60_000_000
    connection.close()


def test_pages_are_joined_to_record_batches(
    client: FeedClient, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(23):
        queue.send(f"m{number}")
    mark = client.feeds([queue.name])[0].mark
    monkeypatch.setattr(reading, "PAGE", 5)
    whole = list(client.read(queue.name, 0, mark))
    assert [batch.num_rows for batch in whole] == [23]
    assert whole[0].column("body").to_pylist() == [f"m{number}".encode() for number in range(23)]
    monkeypatch.setattr(columns_out, "BATCH_ROWS", 10)
    assert [batch.num_rows for batch in client.read(queue.name, 0, mark)] == [10, 10, 3]
    monkeypatch.setattr(columns_out, "BATCH_BYTES", 1)
    assert [batch.num_rows for batch in client.read(queue.name, 0, mark)] == [1] * 23
