"""Tests feeds and consumers over HTTP."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from urllib.parse import quote

import pytest

import reliquary
from reliquary import AccessDenied, BadRequest, Manager, NotFound, Queue, QueueNotFound
from reliquary.client.errors import DataLost, OtherQueue
from reliquary.client.feed import FeedClient
from reliquary.net.identity.users import User
from tests.client.served import Served, served
from tests.net.feed.asked import call, refused


def test_feeds_are_found_by_name_and_by_pattern(client: FeedClient, qm: Manager) -> None:
    for name in ("find-a", "find-b", "found"):
        qm.create_queue(name)
    qm.queue("find-a").send_many(["x", "y"])
    one, two = client.feeds(["find-*"])
    assert (one.queue, one.messages, one.cursor, two.queue) == ("find-a", 2, None, "find-b")
    assert one.mark >= 2
    assert one.incarnation != two.incarnation
    assert [each.queue for each in client.feeds(["found", "find-b"])] == ["found", "find-b"]
    assert {each.queue for each in client.feeds(["*"])} >= {"find-a", "found"}
    with pytest.raises(QueueNotFound, match="nowhere"):
        client.feeds(["nowhere"])


def test_feeds_come_in_pages_to_who_asks_for_pages(qm: Manager, server: Served) -> None:
    for name in ("page-a", "page-b", "page-c"):
        qm.create_queue(name)
    whole = call(server.data, "GET", "/feeds?match=page-*")[1]
    assert [each["queue"] for each in whole["feeds"]] == ["page-a", "page-b", "page-c"]
    assert "next" not in whole
    first = call(server.data, "GET", "/feeds?match=page-*&limit=2")[1]
    assert [each["queue"] for each in first["feeds"]] == ["page-a", "page-b"]
    last = call(server.data, "GET", f"/feeds?match=page-*&limit=2&after={first['next']}")[1]
    assert ([each["queue"] for each in last["feeds"]], "next" in last) == (["page-c"], False)
    assert "give a limit too" in refused(server.data, "GET", "/feeds?after=2")[2]


def test_a_consumer_is_opened_once(client: FeedClient, queue: Queue, server: Served) -> None:
    queue.send_many(["a", "b"])
    path = f"/queues/{queue.name}/consumers"
    status, feed = call(server.data, "POST", path, {"name": "lake", "at": "earliest"})
    assert (status, feed["cursor"]) == (201, "0")
    status, again = call(server.data, "POST", path, {"name": "lake", "at": "latest"})
    assert (status, again["cursor"]) == (200, "0"), "it is left as it is"
    late = client.open_consumer(queue.name, "late", "latest")
    assert late.cursor == late.mark
    assert client.open_consumer(queue.name, "some", 1).cursor == 1
    assert [each.name for each in client.consumers(queue.name)] == ["lake", "late", "some"]
    assert client.feeds([queue.name], "some")[0].cursor == 1


def test_a_consumer_moves_forward_and_goes(client: FeedClient, queue: Queue) -> None:
    feed = client.open_consumer(queue.name, "lake", "earliest")
    queue.send_many(["a", "b"])
    mark = client.feeds([queue.name])[0].mark
    client.move_consumer(queue.name, "lake", mark, feed.incarnation)
    client.move_consumer(queue.name, "lake", 0)
    [consumer] = client.consumers(queue.name)
    assert consumer.cursor == mark
    client.drop_consumer(queue.name, "lake")
    assert client.consumers(queue.name) == []
    with pytest.raises(NotFound, match="no consumer 'lake'"):
        client.drop_consumer(queue.name, "lake")
    with pytest.raises(DataLost, match="open it anew"):
        client.move_consumer(queue.name, "lake", mark)


def test_a_queue_that_was_made_anew_is_another(client: FeedClient, qm: Manager, queue: Queue) -> None:
    before = client.open_consumer(queue.name, "lake", "earliest")
    qm.delete_queue(queue.name)
    qm.create_queue(queue.name)
    client.open_consumer(queue.name, "lake", "earliest")
    with pytest.raises(OtherQueue, match="created anew"):
        client.move_consumer(queue.name, "lake", 0, before.incarnation)
    with pytest.raises(OtherQueue, match="created anew"):
        list(client.read(queue.name, 0, 0, incarnation=before.incarnation))


@pytest.mark.parametrize(
    ("method", "path", "body", "sentence"),
    [
        ("GET", "/feeds?match=", None, "match has the names of queues"),
        ("GET", "/feeds?queue=a", None, "the query has no parameter 'queue'; there is match, consumer"),
        ("POST", "/queues/{}/consumers", {"name": "a", "at": "now"}, "at is earliest, latest or a number"),
        ("POST", "/queues/{}/consumers", {"name": ""}, "the name of a consumer"),
        ("POST", "/queues/{}/consumers", {"name": "a", "cursor": 1}, "unknown field `cursor`"),
        ("PATCH", "/queues/{}/consumers", {"name": "a", "cursor": "x"}, "cursor is a string with a number"),
        ("DELETE", "/queues/{}/consumers", None, "the name of the consumer is missing"),
    ],
)
def test_a_wrong_request_is_refused_with_the_reason(
    server: Served, queue: Queue, method: str, path: str, body: object, sentence: str
) -> None:
    status, code, error = refused(server.data, method, path.format(queue.name), body)
    assert (status, code) == (400, "INVALID_PARAMETER")
    assert sentence in error


def test_what_is_not_there_is_not_found(server: Served, client: FeedClient) -> None:
    for ask in (
        lambda: client.consumers("nowhere"),
        lambda: client.open_consumer("nowhere", "a", "latest"),
        lambda: client.drop_consumer("nowhere", "a"),
        lambda: client.plan("nowhere", 0, None),
        lambda: list(client.read("nowhere", 0, 1)),
    ):
        with pytest.raises(QueueNotFound, match="nowhere"):
            ask()
    assert call(server.data, "PUT", "/feeds")[0] == 405


def test_names_may_have_anything_in_them(client: FeedClient, qm: Manager, server: Served) -> None:
    qm.create_queue("a b ü")
    client.open_consumer("a b ü", "böse & gut", "earliest")
    assert [each.name for each in client.consumers("a b ü")] == ["böse & gut"]
    status, _ = call(server.data, "GET", f"/queues/{quote('a b ü', safe='')}/consumers")
    assert status == 200
    client.drop_consumer("a b ü", "böse & gut")


def test_who_may_not_peek_sees_no_feed(tmp_path: Path) -> None:
    def digest(token: str) -> str:
        return sha256(token.encode()).hexdigest()

    users = (
        User(name="ada", token_sha256=digest("a"), groups=("administrators",)),
        User(name="bob", token_sha256=digest("b")),
    )
    with (
        served(tmp_path / "s", users=users) as running,
        reliquary.connect(running.data, control=running.control, token="a") as ada,
        FeedClient(running.data, token="b", pauses=()) as bob,
        FeedClient(running.data, token="stranger", pauses=()) as stranger,
        FeedClient(running.data, token="a", pauses=()) as hers,
    ):
        ada.create_queue("secret")
        hers.open_consumer("secret", "lake", "earliest")
        for ask in (
            lambda: bob.feeds(["secret"]),
            lambda: bob.consumers("secret"),
            lambda: bob.open_consumer("secret", "b", "latest"),
            lambda: bob.move_consumer("secret", "lake", 0),
            lambda: bob.drop_consumer("secret", "lake"),
            lambda: bob.plan("secret", 0, None),
            lambda: list(bob.read("secret", 0, 0)),
        ):
            with pytest.raises(AccessDenied, match=r"^bob .* lacks the right"):
                ask()
        assert bob.feeds(["*"]) == []
        with pytest.raises(
            AccessDenied,
            match="the token belongs to no user",
        ):
            stranger.feeds(["*"])
        assert [each.name for each in hers.consumers("secret")] == ["lake"]


def test_a_malformed_token_is_refused() -> None:
    with pytest.raises(BadRequest, match="a token is made of"):
        FeedClient("http://127.0.0.1:1", token="a b")
