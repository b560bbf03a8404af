"""Tests parts of batches over HTTP: all of their rows and in their order, or nothing."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path
from urllib.parse import urlsplit

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

import reliquary
from reliquary import AccessDenied, BadRequest, Manager, Queue, QueueNotFound, ServerUnreachable
from reliquary.client.errors import BatchTooLarge, ReliquaryError
from reliquary.client.feed import FeedClient, StageKey
from reliquary.net.feed import ipc
from reliquary.net.feed.columns_in import GROUP
from reliquary.net.identity.users import User
from reliquary.server.api import ApiEndpoint
from tests.client.served import Served, served
from tests.net.feed.asked import refused
from tests.server.endpoints import endpoint_of

PATH = "/stages/q/1/0/a"


def place(query: str, batch: int = 1, part: int = 0) -> StageKey:
    return StageKey(query, batch, part, "a")


def rows(*texts: str, **columns: list[object]) -> pa.RecordBatch:
    return pa.record_batch({"body": pa.array(texts), **{name: pa.array(v) for name, v in columns.items()}})


def texts(queue: Queue) -> list[str]:
    return [message.text for message in queue.browse()]


def put(client: FeedClient, queue: Queue, *batches: pa.RecordBatch, bad: str = "fail") -> list[str]:
    """Stage and publish batches, and return what is in the queue."""
    staged = client.stage(queue.name, place(queue.name), batches, batches[0].schema, bad=bad)
    assert texts(queue) == []
    client.publish(queue.name, 1, [staged.stage])
    return texts(queue)


def test_rows_are_there_in_their_order_once_they_are_published(client: FeedClient, queue: Queue) -> None:
    many = [f"m{number}" for number in range(1200)]
    assert put(client, queue, rows(*many[:700]), rows(*many[700:])) == many


def test_attributes_come_from_columns(client: FeedClient, queue: Queue) -> None:
    put(client, queue, rows("a", label=["x"], priority=[7], tag=[5], extension=[b"e"]))
    message = queue.receive()
    assert message is not None
    assert (message.label, message.priority, message.tag, message.extension) == ("x", 7, 5, b"e")


def test_a_part_without_rows_is_a_part(client: FeedClient, queue: Queue) -> None:
    staged = client.stage(queue.name, place(queue.name), [], rows("a").schema)
    assert (staged.rows, staged.bad) == (0, 0)
    assert client.publish(queue.name, 1, [staged.stage]).rows == 0


def test_a_row_may_name_its_queue(client: FeedClient, qm: Manager, queue: Queue) -> None:
    other = qm.create_queue(f"{queue.name}-other")
    assert put(client, queue, rows("a", "b", "c", queue=[None, other.name, None])) == ["a", "c"]
    assert texts(other) == ["b"]


@pytest.mark.parametrize(
    ("batch", "sentence"),
    [
        (rows("a", "b", priority=[3, 9]), "row 4 (of part 7): a priority is 0 to 7, not 9"),
        (rows("a", correlation=["x"]), "row 3 (of part 7): correlation is the id of a message"),
        (rows("a", label=["x" * 250]), "row 3 (of part 7): a label has at most 249 characters"),
    ],
    ids=["by the manager", "by its column", "by its length"],
)
def test_a_bad_row_fails_the_part_and_is_named(
    client: FeedClient, server: Served, queue: Queue, batch: pa.RecordBatch, sentence: str
) -> None:
    columns = {name: pa.nulls(2, batch.schema.field(name).type) for name in batch.schema.names}
    before = pa.record_batch(columns)
    with pytest.raises(BadRequest) as wrong:
        client.stage(queue.name, place(queue.name, part=7), [before, batch], batch.schema)
    assert sentence in str(wrong.value)
    assert waiting(server, queue.name) == 0, "what came of it is dropped"


def waiting(server: Served, query: str) -> int:
    """Return the number of parts of a query that are not published."""
    return sum(of_query == query for of_query, *_ in server.server.opened.state.staging.places)


def test_bad_rows_may_go_elsewhere_and_the_others_keep_their_order(
    client: FeedClient, qm: Manager, queue: Queue
) -> None:
    bin_ = qm.create_queue(f"{queue.name}-bin")
    batch = rows("a", "b", "c", "d", "e", priority=[3, 9, 3, 8, 3], correlation=[None, None, "x", None, None])
    staged = client.stage(
        queue.name, place(queue.name), [batch, batch], batch.schema, bad=f"dead:{bin_.name}"
    )
    assert (staged.rows, staged.bad) == (10, 6)
    client.publish(queue.name, 1, [staged.stage])
    assert texts(queue) == ["a", "e", "a", "e"]
    dead = list(bin_.browse())
    assert [(message.text, message.label[:12]) for message in dead] == [
        ("b", "a priority i"), ("c", "correlation "), ("d", "a priority i"),
    ] * 2  # fmt: skip


WRONG_QUEUES = {
    "missing": ("nowhere", "there is no queue nowhere"),
    "no format name": ("DIRECT=", "is not a way to reach a queue"),
    "no path name": ("a/b\\c", "is not this computer"),
}


@pytest.mark.parametrize(("wrong", "why"), WRONG_QUEUES.values(), ids=WRONG_QUEUES)
def test_rows_that_name_a_queue_that_takes_nothing_are_bad_rows(
    client: FeedClient, qm: Manager, queue: Queue, wrong: str, why: str
) -> None:
    bin_ = qm.create_queue(f"{queue.name}-bin")
    many = [f"m{number}" for number in range(GROUP + 1)]
    names: list[object] = [None, *[wrong] * len(many), None]
    batch = rows("first", *many, "last", queue=names)
    with pytest.raises(BadRequest, match=rf"row 2 \(of part 0\): .*{why}"):
        client.stage(queue.name, place(queue.name), [batch], batch.schema)
    staged = client.stage(queue.name, place(queue.name), [batch], batch.schema, bad=f"dead:{bin_.name}")
    assert (staged.rows, staged.bad) == (len(many) + 2, len(many))
    client.publish(queue.name, 1, [staged.stage])
    assert texts(queue) == ["first", "last"]
    dead = list(bin_.browse())
    assert [message.text for message in dead] == many
    assert why in dead[0].label


def test_a_row_without_a_queue_is_a_bad_row(client: FeedClient, qm: Manager, queue: Queue) -> None:
    bin_ = qm.create_queue(f"{queue.name}-bin")
    batch = rows("a", "b", queue=[queue.name, None])
    with pytest.raises(BadRequest, match=r"row 2 \(of part 0\): it names no queue"):
        client.stage("", place(queue.name), [batch], batch.schema)
    staged = client.stage("", place(queue.name), [batch], batch.schema, bad=f"dead:{bin_.name}")
    client.publish(queue.name, 1, [staged.stage])
    assert (texts(queue), texts(bin_)) == (["a"], ["b"])


def test_a_missing_queue_of_the_whole_part_is_not_the_fault_of_its_rows(
    client: FeedClient, qm: Manager, queue: Queue
) -> None:
    bin_ = qm.create_queue(f"{queue.name}-bin")
    batch = rows("a", queue=[None])
    with pytest.raises(QueueNotFound):
        client.stage("nowhere", place(queue.name), [batch], batch.schema, bad=f"dead:{bin_.name}")


def test_a_bad_row_that_is_not_taken_fails_the_part(client: FeedClient, queue: Queue) -> None:
    batch = rows("a", priority=[9])
    with pytest.raises(QueueNotFound):
        client.stage(queue.name, place(queue.name), [batch], batch.schema, bad="dead:nowhere")


def test_a_part_that_breaks_off_is_dropped(server: Served, client: FeedClient, queue: Queue) -> None:
    def breaking() -> Iterator[pa.RecordBatch]:
        yield rows("a")
        raise KeyError

    with pytest.raises(KeyError):
        client.stage(queue.name, place(queue.name), breaking(), rows("a").schema)
    while waiting(server, queue.name) or endpoint_of(server.server, ApiEndpoint).feeds.under_way:
        client.feeds([queue.name])


def test_memory_holds_a_few_batches_of_a_long_part(client: FeedClient, queue: Queue, server: Served) -> None:
    batch = pa.record_batch({"body": pa.array([bytes(100_000)] * 50)})
    staged = client.stage(queue.name, place(queue.name), [batch] * 12, batch.schema)
    assert staged.rows == 600
    client.unstage([staged.stage])
    assert waiting(server, queue.name) == 0


@pytest.mark.parametrize(
    ("path", "body", "sentence"),
    [
        (PATH + "?queue=orders", b"hello world", "this is not an Arrow stream"),
        (PATH + "?queue=orders", b"", "the Arrow stream is incomplete"),
        (PATH + "?queue=orders&bad=maybe", b"", "bad is fail, or dead:QUEUE"),
        (PATH + "?queue=orders&bad=dead:", b"", "bad is fail, or dead:QUEUE"),
        (PATH + "?into=orders", b"", "the query has no parameter 'into'; there is queue, bad"),
        ("/stages/q/1/0?queue=orders", b"", "is not the path of a part"),
        ("/stages/q/one/0/a?queue=orders", b"", "a batch is a string with a number"),
    ],
)
def test_a_wrong_request_is_refused_with_the_reason(
    server: Served, path: str, body: bytes, sentence: str
) -> None:
    status, code, error = refused(server.data, "PUT", path, body)
    assert (status, code) == (400, "INVALID_PARAMETER")
    assert sentence in error


def test_other_methods_are_not_for_parts(server: Served) -> None:
    status, code, error = refused(server.data, "POST", PATH, b"x")
    assert (status, code) == (405, "METHOD_NOT_ALLOWED")
    assert "PUT" in error


def test_a_batch_of_rows_that_is_too_large_is_refused(
    client: FeedClient, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ipc.IpcStream.__init__, "__defaults__", (1000,))
    with pytest.raises(BatchTooLarge, match="send smaller ones"):
        client.stage(queue.name, place(queue.name), [rows("a" * 2000)], rows("a").schema)


def test_who_may_not_send_cannot_stage(tmp_path: Path) -> None:
    users = tuple(
        User(name=name, token_sha256=sha256(name.encode()).hexdigest(), groups=groups)
        for name, groups in (("ada", ("administrators",)), ("bob", ()))
    )
    with (
        served(tmp_path / "s", users=users) as running,
        reliquary.connect(running.data, control=running.control, token="ada") as ada,
        FeedClient(running.data, token="bob", pauses=()) as bob,
        FeedClient(running.data, token="stranger", pauses=()) as stranger,
        FeedClient(running.data, token="ada", pauses=()) as hers,
    ):
        ada.create_queue("secret")
        staged = hers.stage("secret", place("q"), [rows("a")], rows("a").schema)
        attempts: list[tuple[FeedClient, Callable[[FeedClient], object], str]] = [
            (bob, lambda who: who.stage("secret", place("b"), [rows("a")], rows("a").schema), "lacks"),
            (
                stranger,
                lambda who: who.stage("secret", place("n"), [], rows("a").schema),
                "belongs to no user",
            ),
            (stranger, lambda who: who.publish("q", 1, [staged.stage]), "belongs to no user"),
        ]
        for who, act, sentence in attempts:
            with pytest.raises(AccessDenied, match=sentence):
                act(who)
        with pytest.raises(ReliquaryError):
            bob.publish("q", 1, [staged.stage])
        assert hers.publish("q", 1, [staged.stage]).rows == 1


def test_a_client_that_hangs_up_in_the_middle_leaves_nothing(
    server: Served, client: FeedClient, queue: Queue
) -> None:
    parts = urlsplit(server.data)
    with socket.create_connection((parts.hostname, parts.port)) as raw:
        head = f"PUT /api/v1/stages/{queue.name}/1/0/a?queue={queue.name} HTTP/1.1\r\nhost: localhost\r\n"
        raw.sendall(head.encode() + b"transfer-encoding: chunked\r\n\r\n5\r\nhello")
        while not endpoint_of(server.server, ApiEndpoint).feeds.under_way:
            client.feeds([queue.name])
    while waiting(server, queue.name) or endpoint_of(server.server, ApiEndpoint).feeds.under_way:
        client.feeds([queue.name])


def test_a_server_that_stops_takes_no_part_of_a_batch(tmp_path: Path) -> None:
    with (
        served(tmp_path / "s") as running,
        FeedClient(running.data, pauses=()) as client,
        reliquary.connect(running.data, control=running.control) as manager,
    ):
        manager.create_queue("orders")

        def stopping() -> Iterator[pa.RecordBatch]:
            yield rows("a")
            running.portal.call(running.server.stop())
            while True:
                yield rows("b" * 100_000)

        with pytest.raises(ServerUnreachable):
            client.stage("orders", place("q"), stopping(), rows("a").schema)
