"""Tests of the command `reliquary acts`."""

from __future__ import annotations

import json

from tests.cli.conftest import Run


def test_acts_are_listed_and_chosen(run: Run) -> None:
    run("queue", "create", "orders")
    run("queue", "create", "other")
    run("queue", "purge", "orders", "--yes")
    run("message", "move", "orders", "1", "other")
    found = [json.loads(line) for line in run("acts", "list").output.splitlines()]
    assert [(each["act"], each["object"]) for each in found][-3:] == [
        ("purge-queue", "orders"),
        ("create-queue", "other"),
        ("create-queue", "orders"),
    ]
    one = run("acts", "list", "--act", "purge-queue", "--who", "anonymous", "--limit", "1")
    assert json.loads(one.output)["outcome"] == "done"
    assert run("acts", "list", "--who", "alice").output == ""
    assert "purge-queue" in run("acts", "list", "--table").output
