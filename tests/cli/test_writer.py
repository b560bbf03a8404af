"""Tests of the command `reliquary writer`."""

from __future__ import annotations

import json

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary import Manager
from reliquary.client.feed import FeedClient, StageKey
from tests.cli.conftest import Run
from tests.client.served import Served


def test_writers_are_listed_and_forgotten(run: Run, qm: Manager, shared_server: Served) -> None:
    qm.create_queue("orders")
    assert run("writer", "list").output == ""
    batch = pa.record_batch({"body": pa.array(["a", "b"])})
    with FeedClient(shared_server.data) as client:
        staged = client.stage("orders", StageKey("q", 4, 0, "a"), [batch], batch.schema)
        client.publish("q", 4, [staged.stage], writer="till")
    [line] = run("writer", "list").output.splitlines()
    assert json.loads(line)["writers"] == ["till"]
    heads, row = run("writer", "list", "--table").output.splitlines()
    assert heads.split() == ["query", "writers", "batch", "rows", "total", "published", "waiting"]
    assert row.split()[:5] == ["q", "till", "4", "2", "2"]
    assert run("writer", "forget", "--name", "till").exit_code == 0
    assert json.loads(run("writer", "list").output)["writers"] == []
    assert run("writer", "forget", "--query", "q").exit_code == 0
    assert run("writer", "list").output == ""


def test_forget_takes_either_a_query_or_a_writer(run: Run) -> None:
    for command in ([], ["--query", "q", "--name", "n"]):
        done = run("writer", "forget", *command)
        assert (done.exit_code, "either --query or --name" in done.output) == (2, True)
    done = run("writer", "forget", "--query", "q")
    assert (done.exit_code, done.output) == (4, "reliquary: no query q has published anything\n")
