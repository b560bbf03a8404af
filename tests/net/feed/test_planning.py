"""Tests plans over HTTP: counted where they are bounded, looked at where they are long."""

from __future__ import annotations

import pytest

from reliquary import Queue
from reliquary.client.feed import Bounds, FeedClient
from reliquary.net.feed import planning, reading
from tests.client.served import Served
from tests.net.feed.asked import refused


def test_a_plan_goes_as_far_as_its_bounds(client: FeedClient, queue: Queue) -> None:
    queue.send_many([b"x" * 100] * 20)
    mark = client.feeds([queue.name])[0].mark
    assert client.plan(queue.name, 0, None).until == mark
    some = client.plan(queue.name, 0, None, rows=7, parts=3)
    assert (some.rows, len(some.parts)) == (7, 3)
    one = client.plan(queue.name, some.until, mark, bytes=1)
    assert one.rows == 1
    rest = client.plan(queue.name, one.until, mark)
    assert (rest.rows, rest.until) == (12, mark)
    assert sum(each.bytes for each in rest.parts) == rest.bytes


def test_pages_make_no_difference(client: FeedClient, queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    queue.send_many([b"x" * size for size in range(1, 60)])
    whole = client.plan(queue.name, 0, None, bytes=12_000, parts=4)
    monkeypatch.setattr(planning, "PAGE", 7)
    assert client.plan(queue.name, 0, None, bytes=12_000, parts=4) == whole


def test_messages_with_rows_of_their_own_are_planned_and_read_as_others_are(
    client: FeedClient, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.send_many([b"before" * 30] * 10)
    client.open_consumer(queue.name, "lake", 0)  # from here on, positions are alike and have no message
    bodies = [b"%03d" % number * 50 for number in range(30)]
    queue.send_many(bodies)
    monkeypatch.setattr(planning, "PAGE", 8)
    monkeypatch.setattr(reading, "PAGE", 8)
    plan = client.plan(queue.name, 0, None, rows=34, parts=3, consumer="lake")
    assert (plan.rows, sum(part.rows for part in plan.parts)) == (34, 34)
    assert plan.bytes == sum(part.bytes for part in plan.parts)
    found = [
        batch.select(["body", "size"]).to_pylist()
        for part in plan.parts
        for batch in client.read(queue.name, part.after, part.until, consumer="lake")
    ]
    rows = [row for batch in found for row in batch]
    assert [row["body"] for row in rows] == [b"before" * 30] * 10 + bodies[:24]
    assert sum(row["size"] for row in rows) == plan.bytes


def test_only_what_is_wanted_is_counted(client: FeedClient, queue: Queue) -> None:
    sent = queue.send_many(["a"] * 10)
    bounds = Bounds(from_lookup=sent[3].lookup_id, to_lookup=sent[6].lookup_id)
    plan = client.plan(queue.name, 0, None, parts=2, bounds=bounds)
    assert plan.rows == 4
    rows = [
        row
        for part in plan.parts
        for batch in client.read(queue.name, part.after, part.until, columns=["lookup_id"], bounds=bounds)
        for row in batch.column(0).to_pylist()
    ]
    assert rows == [each.lookup_id for each in sent[3:7]]


def test_a_long_plan_is_about_right(
    client: FeedClient, queue: Queue, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, number in (("PAGE", 20), ("COUNTED", 40), ("LOOK", 4)):
        monkeypatch.setattr(planning, name, number)
    queue.send_many([b"x" * 10] * 500)
    queue.send_many([b"x" * 1000] * 500)
    plan = client.plan(queue.name, 0, None, parts=8)
    assert 900 <= plan.rows <= 1100
    found = [
        sum(batch.num_rows for batch in client.read(queue.name, part.after, part.until, columns=["size"]))
        for part in plan.parts
    ]
    assert sum(found) == 1000, "whatever was thought of them, parts leave nothing out"
    assert max(found[:2]) > 2 * max(found[-2:]), "and those of large messages have fewer"


def test_an_empty_feed_has_an_empty_plan(client: FeedClient, queue: Queue) -> None:
    plan = client.plan(queue.name, 0, None, rows=5)
    assert (plan.rows, plan.parts) == (0, ())


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        ({}, "missing required field `after`"),
        ({"after": "-1"}, "after is a string with a number"),
        ({"after": "0", "rows": 0}, "rows is at least 1, or null for any number, not 0"),
        ({"after": "0", "bytes": -5}, "bytes is at least 1"),
        ({"after": "0", "parts": 0}, "parts is 1 to 10000, not 0"),
        ({"after": "0", "bounds": {"size": 1}}, "bounds has no 'size'; there is from_lookup"),
        ({"after": "0", "until": "9999999"}, "a place in this feed is 0 to"),
    ],
)
def test_a_wrong_request_is_refused_with_the_reason(
    server: Served, queue: Queue, body: object, sentence: str
) -> None:
    status, code, error = refused(server.data, "POST", f"/queues/{queue.name}/plan", body)
    assert (status, code) == (400, "INVALID_PARAMETER")
    assert sentence in error
