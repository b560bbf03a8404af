"""Tests feeds and batches from a plain thread: what is asked, and what the answers become."""

from __future__ import annotations

import json
import pickle
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from reliquary.client.errors import (
    BadRequest,
    DataLost,
    OtherQueue,
    QueueNotFound,
    ReliquaryError,
    ServerUnreachable,
    StageGone,
    WriterTaken,
)
from reliquary.client.feed import (
    Bounds,
    Consumer,
    Feed,
    FeedClient,
    Part,
    Plan,
    Published,
    Reset,
    Staged,
    StageKey,
    Writer,
)
from reliquary.client.sync.manager import connect
from tests.client.scripted import Answer, Scripted, answer, streamed
from tests.client.served import served
from tests.e2e.process import ServerProcess
from tests.net.http.certificate import PEM, client_context

FEED = {"queue": "orders", "incarnation": "i", "mark": "7", "cursor": None, "messages": 2, "bytes": 9}
BATCH = pa.record_batch({"feed_id": pa.array([1, 2]), "label": pa.array(["a", None])})
STREAM = b"".join(
    bytes(each) for each in (BATCH.schema.serialize(), BATCH.serialize(), b"\xff\xff\xff\xff\0\0\0\0")
)
PLACE = StageKey("q 1", 3, 0, "a-1")


def asked(server: Scripted) -> tuple[str, str, dict[str, list[str]], object]:
    """Return the last request: method, path, parameters, JSON."""
    last = server.asked[-1]
    parts = urlsplit(last.target)
    return last.method, parts.path, parse_qs(parts.query), json.loads(last.body) if last.body else None


def test_feeds_are_found_by_names_and_patterns() -> None:
    with Scripted([answer(200, {"feeds": [FEED]})]) as server, FeedClient(server.url) as client:
        assert client.feeds(["orders", "inv*"], "lake") == [Feed("orders", "i", 7, None, 2, 9)]
        parameters = {"match": ["orders,inv*"], "consumer": ["lake"]}
        assert asked(server) == ("GET", "/api/v1/feeds", parameters, None)


def test_a_consumer_is_set_and_reset() -> None:
    reset = {"before": "3", "cursor": "9", "messages": 2, "bytes": 8, "more": False}
    answers = [answer(204), answer(200, reset)]
    with Scripted(answers) as server, FeedClient(server.url) as client:
        client.set_consumer("orders", "lake", keep="7d", paused=False)
        assert client.reset_consumer("orders", "lake", "latest", dry_run=True) == Reset(
            3, 9, 2, 8, more=False
        )
        assert [json.loads(each.body) for each in server.asked] == [
            {"name": "lake", "keep": "7d", "paused": False},
            {"name": "lake", "to": "latest", "dry_run": True},
        ]


def test_a_consumer_comes_moves_and_goes() -> None:
    consumer = {"name": "lake", "cursor": "5", "created": "c", "moved": "m"}
    answers = [answer(201, {**FEED, "cursor": "5"}), answer(200, {"consumers": [consumer]})]
    with (
        Scripted([*answers, answer(204), answer(204)]) as server,
        FeedClient(server.url, token="t") as client,
    ):
        assert client.open_consumer("a/b", "lake", "earliest").cursor == 5
        path = "/api/v1/queues/a%2Fb/consumers"
        assert asked(server) == ("POST", path, {}, {"name": "lake", "at": "earliest"})
        assert client.consumers("a/b") == [Consumer("lake", 5, "c", "m")]
        client.move_consumer("a/b", "lake", 9, "i")
        assert asked(server) == ("PATCH", path, {}, {"name": "lake", "cursor": "9", "incarnation": "i"})
        client.drop_consumer("a/b", "lake")
        assert asked(server) == ("DELETE", path, {"name": ["lake"]}, None)
        assert server.asked[-1].headers["Authorization"] == "Bearer t"


def test_a_plan_says_how_far_a_batch_goes() -> None:
    parts = [{"after": "1", "until": "4", "rows": 2, "bytes": 20}]
    said = {"until": "4", "rows": 2, "bytes": 20, "parts": parts}
    with Scripted([answer(200, said)]) as server, FeedClient(server.url) as client:
        plan = client.plan("orders", 1, None, rows=2, parts=3, consumer="lake", bounds=Bounds(to_time=8))
        assert plan == Plan(4, 2, 20, (Part(1, 4, 2, 20),))
        assert asked(server)[3] == {
            "after": "1", "until": None, "rows": 2, "bytes": None, "parts": 3, "consumer": "lake",
            "incarnation": "", "bounds": {"to_time": "8"},
        }  # fmt: skip


def test_a_range_is_read_as_it_comes() -> None:
    with Scripted([streamed(STREAM[:100], STREAM[100:])]) as server, FeedClient(server.url) as client:
        rows = client.read("orders", 1, 7, columns=["feed_id", "label"], bounds=Bounds(from_lookup=3))
        assert list(rows) == [BATCH]
        parameters = {"after": ["1"], "until": ["7"], "columns": ["feed_id,label"], "from_lookup": ["3"]}
        parameters["encoding"] = ["runs"]
        assert asked(server)[2] == parameters


def test_a_client_says_that_it_takes_compressed_rows() -> None:
    with Scripted([streamed(STREAM)]) as server, FeedClient(server.url, compression="zstd") as client:
        assert list(client.read("orders", 1, 7)) == [BATCH]
        assert asked(server)[2]["compression"] == ["zstd"]


def test_a_stream_that_ends_too_early_is_an_error_and_no_end() -> None:
    whole = streamed(STREAM)
    last = len(whole.data) - len(b"0\r\n\r\n")
    for cut in [*range(60, last, 37), last]:
        with (
            Scripted([Answer(whole.data[:cut], cut=True)]) as server,
            FeedClient(server.url, pauses=()) as client,
            pytest.raises(ReliquaryError),
        ):
            list(client.read("orders", 1, 7))


def test_an_answer_of_another_kind_is_reported() -> None:
    with Scripted([streamed(b"hello world"), answer(200, [1])]) as server, FeedClient(server.url) as client:
        for ask in (lambda: list(client.read("orders", 1, 7)), lambda: client.feeds(["a"])):
            with pytest.raises(ReliquaryError, match="cannot be read"):
                ask()


@pytest.mark.parametrize(
    ("status", "kind"),
    [(410, DataLost), (409, OtherQueue), (409, WriterTaken), (410, StageGone)],
    ids=lambda given: getattr(given, "__name__", ""),
)
def test_each_refusal_has_its_name(status: int, kind: type[ReliquaryError]) -> None:
    code = "".join(f"_{letter}" if letter.isupper() else letter for letter in kind.__name__).upper()[1:]
    no = answer(status, {"error": "say what to do", "code": code})
    with Scripted([no]) as server, FeedClient(server.url) as client, pytest.raises(kind, match="to do"):
        client.publish("q", 1, [1])


def test_a_part_is_sent_as_an_arrow_stream() -> None:
    said = {"stage": "77", "rows": 4, "bytes": 10, "bad": 1}
    with Scripted([answer(201, said)]) as server, FeedClient(server.url) as client:
        staged = client.stage("orders", PLACE, iter([BATCH, BATCH]), BATCH.schema, bad="dead:bin")
        assert staged == Staged(77, 4, 10, 1)
    [put] = server.asked
    assert put.target == "/api/v1/stages/q%201/3/0/a-1?queue=orders&bad=dead%3Abin"
    assert pa.ipc.open_stream(put.body).read_all().to_batches() == [BATCH, BATCH]


def test_a_part_without_rows_is_one_too() -> None:
    said = {"stage": "77", "rows": 0, "bytes": 0, "bad": 0}
    with Scripted([answer(201, said)]) as server, FeedClient(server.url) as client:
        assert client.stage("orders", PLACE, [], BATCH.schema).rows == 0
    assert pa.ipc.open_stream(server.asked[0].body).read_all().num_rows == 0


def test_a_part_whose_names_have_a_slash_is_refused() -> None:
    client = FeedClient("http://127.0.0.1:1")
    for place in (StageKey("", 1, 1, "a"), StageKey("a/b", 1, 1, "a"), StageKey("q", 1, 1, "a/b")):
        with pytest.raises(BadRequest, match="no slash"):
            client.stage("orders", place, [], BATCH.schema)


def test_a_batch_is_published_and_forgotten() -> None:
    writer = {"query": "q", "writers": ["w"], "batch": 3, "rows": 2, "total": 9, "published": "p"}
    writer["waiting"] = 4
    answers = [answer(200, {"rows": 2, "already": False}), answer(204), answer(200, {"writers": [writer]})]
    with Scripted([*answers, answer(204)]) as server, FeedClient(server.url) as client:
        assert client.publish("q", 3, [77, 78], writer="w") == Published(2, already=False)
        body = {"query": "q", "batch": 3, "writer": "w", "stages": ["77", "78"], "take_over": False}
        assert asked(server) == ("POST", "/api/v1/publish", {}, body)
        client.unstage([77])
        assert asked(server) == ("POST", "/api/v1/unstage", {}, {"stages": ["77"]})
        assert client.writers() == [Writer("q", ("w",), 3, 2, 9, "p", 4)]
        client.forget_writer(writer="w")
        assert asked(server) == ("DELETE", "/api/v1/writers", {"writer": ["w"]}, None)


def test_a_client_may_be_sent_to_another_process() -> None:
    feeds = answer(200, {"feeds": []})
    with Scripted([feeds, feeds]) as server, FeedClient(server.url, token="t") as client:
        client.feeds(["a"])
        with pickle.loads(pickle.dumps(client)) as again:  # noqa: S301
            assert again.feeds(["a"]) == []
        assert server.connections == 2
        assert server.asked[-1].headers["Authorization"] == "Bearer t"


# -- against a real server


def test_over_tls_a_server_is_trusted_by_its_authority(tmp_path: Path) -> None:
    with served(tmp_path / "s", certificate=PEM) as running:
        url = running.data.replace("127.0.0.1", "localhost")
        with FeedClient(url, ca=str(PEM), pauses=()) as client:
            assert client.feeds(["*"]) == []
            placed = client.writers()
            assert placed == []
        with (
            FeedClient(url, pauses=(0,)) as stranger,
            pytest.raises(ServerUnreachable, match=r"its certificate is not trusted .* name the file"),
        ):
            stranger.feeds(["*"])


def test_over_tls_a_part_is_sent_to_its_end(tmp_path: Path) -> None:
    some = pa.record_batch({"body": pa.array([bytes(1000)] * 100)})
    with served(tmp_path / "s", certificate=PEM) as running:
        with connect(running.data, control=running.control, tls=client_context()) as manager:
            manager.create_queue("orders")
        url = running.data.replace("127.0.0.1", "localhost")
        with FeedClient(url, ca=str(PEM), pauses=()) as client:
            staged = client.stage("orders", PLACE, [some] * 30, some.schema)
            assert client.publish(PLACE.query, PLACE.batch, [staged.stage]).rows == 3000
            with pytest.raises(QueueNotFound):
                client.stage("nowhere", PLACE, [some] * 30, some.schema)


def test_a_server_that_is_killed_in_the_middle_is_no_end(tmp_path: Path) -> None:
    with ServerProcess(tmp_path / "s", "orders") as process:
        process.wait_until_ready()
        with FeedClient(process.data, pauses=()) as client:
            large = pa.record_batch({"body": pa.array([bytes(1_000_000)] * 40)})
            staged = client.stage("orders", PLACE, [large], large.schema)
            client.publish(PLACE.query, PLACE.batch, [staged.stage])
            batches = client.read("orders", 0, client.feeds(["orders"])[0].mark)
            next(batches)
            process.kill()
            with pytest.raises(ServerUnreachable, match="broke off in the middle"):
                list(batches)
            with pytest.raises(ServerUnreachable, match="does not answer"):
                client.feeds(["orders"])
    with ServerProcess(tmp_path / "s", "orders") as process:
        process.wait_until_ready()
        with FeedClient(process.data, pauses=()) as client:
            assert client.publish(PLACE.query, PLACE.batch, []).already
            mark = client.feeds(["orders"])[0].mark
            found = client.read("orders", 0, mark, columns=["size"])
            assert sum(batch.num_rows for batch in found) == 40
