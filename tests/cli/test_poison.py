"""Tests of the command `reliquary queue poison`."""

from __future__ import annotations

import json

from reliquary import Manager
from reliquary.server.exits import Exit
from tests.cli.conftest import Run


def poison(qm: Manager, *bodies: str) -> None:
    """Put messages of `orders` aside."""
    orders = qm.queue("orders")
    for body in bodies:
        orders.send(body)
        for _ in orders.consume(1):  # without a block, the current message goes back
            break


def test_what_was_handed_out_too_often_is_listed_and_returned(run: Run, qm: Manager) -> None:
    assert run("queue", "create", "orders", "--poison-limit", "1").exit_code == 0
    poison(qm, "one", "two")
    listed = [json.loads(line) for line in run("queue", "poison", "list", "orders").output.splitlines()]
    assert [(each["text"], each["handed_out"], each["aborted"]) for each in listed] == [
        ("one", 1, 1),
        ("two", 1, 1),
    ]
    assert {each["class"] for each in listed} == {"nack-receive-rejected"}
    table = run("queue", "poison", "list", "orders", "--table").output.splitlines()
    assert table[1].split() == [listed[0]["lookup_id"], "1", "1", "3", "one"]
    first = run("queue", "poison", "return", "orders", listed[0]["lookup_id"])
    assert json.loads(first.output) == {"queue": "orders", "done": "returned", "messages": 1}
    assert run("queue", "poison", "return", "orders", "--table").output == "returned 1 messages to orders\n"
    assert [each.text for each in qm.queue("orders").browse()] == ["one", "two"]
    assert [(each.handed_out, each.moved) for each in qm.queue("orders").browse()] == [(0, 1), (0, 1)]


def test_a_queue_without_poison_is_empty_and_a_missing_queue_is_not_found(run: Run, qm: Manager) -> None:
    qm.create_queue("orders")
    assert run("queue", "poison", "list", "orders").output == ""
    assert run("queue", "poison", "return", "orders", "--table").output == "returned 0 messages to orders\n"
    for verb in ("list", "return"):
        assert run("queue", "poison", verb, "nowhere").exit_code == Exit.NOT_FOUND


def test_a_message_is_delayed_by_an_option(run: Run, qm: Manager) -> None:
    qm.create_queue("orders")
    assert run("message", "send", "orders", "later", "--delay", "1h").exit_code == 0
    assert run("message", "receive", "orders").exit_code == Exit.EMPTY
    assert json.loads(run("queue", "show", "orders").output)["delayed"] == 1
