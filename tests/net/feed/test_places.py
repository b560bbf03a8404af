"""Tests the place of a time in a feed, over HTTP."""

from __future__ import annotations

import pytest

from reliquary import Queue
from reliquary.client.errors import QueueNotFound, ReliquaryError
from reliquary.client.feed import FeedClient
from reliquary.queueing.feed import steering
from tests.client.served import Served
from tests.net.feed.asked import refused


@pytest.mark.parametrize("limit", [1, 10_000])
def test_a_time_is_found_among_messages_that_left_the_queue(
    client: FeedClient, queue: Queue, limit: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steering, "READ_LIMIT", limit)
    client.open_consumer(queue.name, "lake", "earliest")
    for body in ("a", "b", "c"):
        queue.send(body)
    mark = client.feeds([queue.name])[0].mark
    [batch] = client.read(queue.name, 0, mark, columns=["feed_id", "arrived"])
    numbers = batch.column("feed_id").to_pylist()
    times = [each.value for each in batch.column("arrived")]
    assert len(queue.receive_many(2)) == 2
    assert client.place_of(queue.name, 0) == numbers[0] - 1
    assert [client.place_of(queue.name, time) for time in times] == [number - 1 for number in numbers]
    assert client.place_of(queue.name, times[0] + 1) == numbers[1] - 1
    assert client.place_of(queue.name, times[2] + 1) == client.feeds([queue.name])[0].mark


def test_another_queue_of_the_name_is_refused(client: FeedClient, queue: Queue) -> None:
    assert client.place_of(queue.name, 0, client.feeds([queue.name])[0].incarnation) >= 0
    with pytest.raises(ReliquaryError, match="was deleted and created anew") as refusal:
        client.place_of(queue.name, 0, "00000000-0000-0000-0000-000000000000@7")
    assert refusal.value.code == "OTHER_QUEUE"
    with pytest.raises(QueueNotFound):
        client.place_of("missing", 0)


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("", "from_time is missing: microseconds since 1970"),
        ("?from_time=soon", "from_time is a string with a number from 0 to"),
        ("?from_time=9999999999999999999", "from_time is a string with a number from 0 to"),
    ],
)
def test_a_request_without_a_time_is_refused(server: Served, queue: Queue, query: str, sentence: str) -> None:
    status, code, error = refused(server.data, "GET", f"/queues/{queue.name}/place{query}")
    assert (status, code) == (400, "INVALID_PARAMETER")
    assert sentence in error
