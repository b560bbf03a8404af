"""Tests of the command `reliquary consumer`."""

from __future__ import annotations

import json

from reliquary import Manager
from reliquary.client.feed import FeedClient
from tests.cli.conftest import Run
from tests.client.served import Served

COLUMNS = ["queue", "name", "cursor", "mark", "created", "moved", "keep", "lost", "paused"]


def test_consumers_are_listed_shown_moved_and_removed(run: Run, qm: Manager, shared_server: Served) -> None:
    qm.create_queue("orders").send_many(["a", "b", "c"])
    qm.create_queue("bills")
    with FeedClient(shared_server.data) as client:
        for queue in ("orders", "bills"):
            client.open_consumer(queue, "lake", "earliest")
        mark = client.feeds(["orders"])[0].mark
    found = [json.loads(line) for line in run("consumer", "list").output.splitlines()]
    assert [(each["queue"], each["name"], each["cursor"]) for each in found] == [
        ("bills", "lake", 0), ("orders", "lake", 0),
    ]  # fmt: skip
    heads, row = run("consumer", "list", "ord*", "--table").output.splitlines()
    assert heads.split() == COLUMNS
    assert row.split()[:3] == ["orders", "lake", "0"]
    shown = json.loads(run("consumer", "show", "orders", "lake").output)
    assert (shown["unread"], shown["mark"] >= mark) == (3, True)
    assert run("consumer", "move", "orders", "lake", str(mark)).exit_code == 0
    lines = run("consumer", "show", "orders", "lake", "--table").output.splitlines()
    fields = dict(line.split(maxsplit=1) for line in lines)
    assert (fields["cursor"], fields["unread"]) == (str(mark), "0")
    for queue in ("orders", "bills"):
        assert run("consumer", "remove", queue, "lake").exit_code == 0
    assert run("consumer", "list").output == ""


def test_a_consumer_is_limited_paused_and_reset(run: Run, qm: Manager, shared_server: Served) -> None:
    orders = qm.create_queue("orders")
    with FeedClient(shared_server.data) as client:
        begun = client.open_consumer("orders", "lake", "latest").cursor
    assert run("consumer", "set", "orders", "lake", "--keep", "2").exit_code == 0
    orders.send_many(["a", "b", "c"])
    while orders.receive() is not None:
        pass
    shown = json.loads(run("consumer", "show", "orders", "lake").output)
    assert (shown["keep"], shown["keep_of"], shown["lost"], shown["unread"]) == ("2", "consumer", 1, 2)
    assert shown["last_loss"].startswith("1 messages, ")
    assert f"after {begun} up to {shown['cursor']}" in shown["last_loss"]
    assert run("consumer", "pause", "orders", "lake").exit_code == 0
    assert json.loads(run("consumer", "list").output)["paused"] is True
    assert run("consumer", "resume", "orders", "lake").exit_code == 0
    dry = json.loads(run("consumer", "reset", "orders", "lake", "--to", "latest", "--dry-run").output)
    assert (dry["passed_over"], dry["before"], dry["dry_run"]) == (2, shown["cursor"], True)
    done = run("consumer", "reset", "orders", "lake", "--to", "latest", "--table")
    assert done.output.splitlines()[0].split() == ["before", str(shown["cursor"])]
    assert json.loads(run("consumer", "show", "orders", "lake").output)["unread"] == 0
    assert run("consumer", "set", "orders", "--keep", "a week").exit_code == 2
    assert run("consumer", "set", "orders", "--keep", "inherit").exit_code == 0
    assert run("consumer", "remove", "orders", "lake").exit_code == 0


def test_what_is_not_there_is_not_found(run: Run, qm: Manager) -> None:
    qm.create_queue("orders")
    for command in (["show", "orders", "lake"], ["remove", "orders", "lake"]):
        done = run("consumer", *command)
        assert (done.exit_code, done.output) == (4, "reliquary: orders has no consumer 'lake'\n")
    assert run("consumer", "list", "nowhere").exit_code == 4
    assert run("consumer", "move", "orders", "lake", "0").exit_code == 3
    assert run("consumer", "move", "orders", "lake", "far").exit_code == 2
