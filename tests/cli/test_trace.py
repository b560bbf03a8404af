"""Tests of the command `reliquary message trace`."""

from __future__ import annotations

import json

from tests.cli.conftest import Run


def test_the_way_of_a_message_is_shown(run: Run) -> None:
    run("queue", "create", "orders")
    run("message", "send", "orders", "hello")
    [message] = [
        json.loads(line) for line in run("message", "receive", "orders", "--json").output.splitlines()
    ]
    trace = json.loads(run("message", "trace", message["id"], "--json").output)
    assert [each["event"] for each in trace["lines"]][0::2] == ["accepted", "received"]
    shown = run("message", "trace", message["id"], "--here", "--table").output
    assert "manager" in shown.splitlines()[0]
    assert "accepted" in shown


def test_a_message_that_is_not_known_is_said_to_be_unknown(run: Run) -> None:
    ended = run("message", "trace", "00000000-0000-0000-0000-000000000001\\7")
    assert ended.exit_code == 4
    assert "no manager that was asked has an event of this message" in ended.stderr
    assert "is the id of a message, GUID\\NUMBER" in run("message", "trace", "x").stderr
