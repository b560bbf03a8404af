"""Tests publishing over HTTP: once, whatever is asked again."""

from __future__ import annotations

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from reliquary import NotFound, Queue
from reliquary.client.errors import BadRequest, StageGone, WriterTaken
from reliquary.client.feed import FeedClient, Published, StageKey
from tests.client.served import Served
from tests.net.feed.asked import refused

BATCH = pa.record_batch({"body": pa.array(["a", "b"])})


def staged(client: FeedClient, queue: Queue, batch: int = 1, part: int = 0, attempt: str = "a") -> int:
    """Return a part that may be published."""
    place = StageKey(queue.name, batch, part, attempt)
    return client.stage(queue.name, place, [BATCH], BATCH.schema).stage


def test_a_batch_is_published_once(client: FeedClient, queue: Queue) -> None:
    parts = [staged(client, queue, part=part) for part in (0, 1)]
    assert client.publish(queue.name, 1, parts) == Published(4, already=False)
    assert client.publish(queue.name, 1, parts) == Published(0, already=True)
    assert client.publish(queue.name, 1, []) == Published(0, already=True)
    assert queue.info().messages == 4


def test_parts_that_are_gone_are_reported(client: FeedClient, queue: Queue) -> None:
    part = staged(client, queue)
    client.unstage([part, 999_999])
    with pytest.raises(StageGone, match=f"stage {part} is gone"):
        client.publish(queue.name, 1, [part])
    assert queue.info().messages == 0


def test_a_writer_is_one_query(client: FeedClient, queue: Queue) -> None:
    name = f"writer-{queue.name}"
    client.publish(queue.name, 1, [staged(client, queue)], writer=name)
    with pytest.raises(WriterTaken, match="let it take over"):
        client.publish("another", 1, [], writer=name)
    [known] = [each for each in client.writers() if each.query == queue.name]
    assert (known.writers, known.batch, known.rows, known.total, known.waiting) == ((name,), 1, 2, 2, 0)
    client.publish("another", 1, [], writer=name, take_over=True)
    client.forget_writer(query="another")
    client.forget_writer(query=queue.name)
    assert queue.name not in {each.query for each in client.writers()}
    with pytest.raises(NotFound, match=f"no query {queue.name} has published anything"):
        client.forget_writer(query=queue.name)
    with pytest.raises(BadRequest, match="either a query or a writer's name"):
        client.forget_writer()


@pytest.mark.parametrize(
    ("method", "path", "body", "sentence"),
    [
        ("POST", "/publish", {}, "missing required field `query`"),
        (
            "POST",
            "/publish",
            {"query": "q", "batch": 1, "stages": ["x"]},
            "a stage is a string with a number",
        ),
        ("POST", "/publish", {"query": "q", "batch": -1, "stages": []}, "a batch has a number from 0"),
        ("POST", "/publish", {"query": "", "batch": 1, "stages": []}, "a query has a name"),
        ("POST", "/unstage", {"stages": [-1]}, "a stage is a string with a number"),
        ("GET", "/writers?query=q", None, "the query has no parameter 'query'"),
    ],
)
def test_a_wrong_request_is_refused_with_the_reason(
    server: Served, method: str, path: str, body: object, sentence: str
) -> None:
    status, code, error = refused(server.data, method, path, body)
    assert (status, code) == (400, "INVALID_PARAMETER")
    assert sentence in error
