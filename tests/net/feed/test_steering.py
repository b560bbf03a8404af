"""Limits, pauses and resets over HTTP."""

from __future__ import annotations

import pytest

from reliquary import BadRequest, NotFound, Queue
from reliquary.client.errors import DataLost
from reliquary.client.feed import FeedClient


def receive_all(queue: Queue) -> None:
    while queue.receive() is not None:
        pass


def test_a_limit_holds_and_its_loss_is_reported_to_the_reader(client: FeedClient, queue: Queue) -> None:
    begun = client.open_consumer(queue.name, "lake", "latest").cursor
    assert begun is not None
    client.set_consumer(queue.name, "lake", keep="2")
    queue.send_many(["a", "b", "c", "d"])
    receive_all(queue)
    [feed] = client.feeds([queue.name], "lake")
    assert feed.loss is not None
    assert (feed.loss.after, feed.loss.until, feed.loss.messages) == (begun, feed.cursor, 2)
    with pytest.raises(DataLost, match=f"lost 2 messages of {queue.name}"):
        client.plan(queue.name, begun, None, consumer="lake")
    [lake] = client.consumers(queue.name)
    assert (lake.keep, lake.keep_of, lake.lost, lake.loss) == ("2", "consumer", 2, feed.loss)


def test_a_limit_of_the_queue_is_for_all_that_have_none(client: FeedClient, queue: Queue) -> None:
    client.open_consumer(queue.name, "lake", "latest")
    client.set_consumer(queue.name, keep="1d,5m")
    [lake] = client.consumers(queue.name)
    assert (lake.keep, lake.keep_of) == ("1d,5m", "queue")
    client.set_consumer(queue.name, "lake", keep="none")
    assert client.consumers(queue.name)[0].keep_of == "consumer"
    client.set_consumer(queue.name, "lake", keep="inherit")
    client.set_consumer(queue.name, keep="inherit")
    assert client.consumers(queue.name)[0].keep_of == "settings"


def test_a_pause_is_reported_to_the_reader(client: FeedClient, queue: Queue) -> None:
    client.open_consumer(queue.name, "lake", "latest")
    client.set_consumer(queue.name, "lake", paused=True)
    assert client.feeds([queue.name], "lake")[0].paused
    client.set_consumer(queue.name, "lake", paused=False)
    assert not client.feeds([queue.name], "lake")[0].paused


def test_a_consumer_is_reset_to_each_kind_of_place(client: FeedClient, queue: Queue) -> None:
    client.open_consumer(queue.name, "lake", "earliest")
    queue.send_many(["a", "b", "c"])
    first = next(iter(client.read(queue.name, 0, client.feeds([queue.name])[0].mark, columns=["feed_id"])))
    numbers = first.column("feed_id").to_pylist()
    reported = client.reset_consumer(queue.name, "lake", numbers[1], dry_run=True)
    assert (reported.before, reported.cursor, reported.messages, reported.more) == (0, numbers[1], 2, False)
    assert client.consumers(queue.name)[0].cursor == 0
    assert client.reset_consumer(queue.name, "lake", "latest").messages == 3
    assert client.reset_consumer(queue.name, "lake", "earliest").cursor == 0
    assert client.reset_consumer(queue.name, "lake", "2001-01-01").cursor < numbers[0]
    late = client.reset_consumer(queue.name, "lake", "2100-01-01T00:00:00Z", dry_run=True)
    assert late.cursor >= numbers[2]


def test_a_wrong_place_limit_or_consumer_is_refused(client: FeedClient, queue: Queue) -> None:
    client.open_consumer(queue.name, "lake", "earliest")
    with pytest.raises(BadRequest, match="a number or a time such as"):
        client.reset_consumer(queue.name, "lake", "soon")
    with pytest.raises(BadRequest, match="a limit is written as"):
        client.set_consumer(queue.name, "lake", keep="soon")
    with pytest.raises(NotFound, match="no consumer 'missing'"):
        client.reset_consumer(queue.name, "missing", "latest")
    with pytest.raises(NotFound, match="no consumer 'missing'"):
        client.set_consumer(queue.name, "missing", paused=True)
