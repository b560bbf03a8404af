"""Tests of the command `reliquary stream`."""

from __future__ import annotations

import json
from pathlib import Path

import reliquary
from reliquary import Manager
from tests.cli.conftest import Run
from tests.client.served import Served, served

COLUMNS = [
    "name",
    "protocol",
    "direction",
    "peer",
    "queue",
    "last",
    "acknowledged",
    "awaiting",
    "next_resend",
    "rejected",
]


def test_without_streams_there_is_nothing_to_list(run: Run) -> None:
    assert run("stream", "list").output == ""
    assert run("stream", "list", "--table").output.split() == COLUMNS


def test_a_stream_that_comes_is_listed(run: Run, qm: Manager, shared_server: Served, tmp_path: Path) -> None:
    qm.create_queue("torders", transactional=True)
    url = f"http://localhost:{shared_server.data.rpartition(':')[2]}/msmq/private$/torders"
    with (
        served(tmp_path / "other") as other,
        reliquary.connect(other.data, control=other.control) as sender,
    ):
        with sender.transaction():
            sender.queue(f"DIRECT={url}").send("one")
            sender.queue(f"DIRECT={url}").send("two")
        assert qm.queue("torders").peek(timeout=20)
        while any(each.messages for each in sender.outgoing()):  # until it is receipted
            pass
        identifier = sender.info().id
    shown = json.loads(run("stream", "list").output)
    assert (shown["direction"], shown["peer"], shown["queue"]) == ("in", identifier, url)
    assert (shown["last"], shown["acknowledged"], shown["awaiting"], shown["rejected"]) == (2, 2, 0, 0)
    heads, row = run("stream", "list", "--table").output.splitlines()
    assert heads.split() == COLUMNS
    assert row.split()[:6] == [shown["name"], "srmp", "in", identifier, url, "2"]
    assert json.loads(run("stream", "show", shown["name"]).output) == shown
    assert json.loads(run("stream", "reset", shown["name"]).output)["reset"] is True


def test_a_stream_that_gets_no_answer_waits_for_its_receipt(run: Run) -> None:
    destination = "DIRECT=HTTP://localhost:9/msmq/private$/torders"
    sent = run("message", "send", destination, "two lamps", "--transaction")
    assert sent.exit_code == 0, sent.output
    while not (lines := [each for each in run("stream", "list").output.splitlines() if '"out"' in each]):
        pass
    [shown] = map(json.loads, lines)
    assert (shown["peer"], shown["queue"]) == ("localhost:9", destination)
    assert (shown["last"], shown["acknowledged"], shown["awaiting"]) == (1, 0, 1)
    anew = json.loads(run("stream", "reset", shown["name"], "--renumber").output)
    assert (anew["name"], anew["awaiting"]) == (shown["name"], 1)
    assert anew["stream"] != shown["stream"]
    assert run("stream", "reset", shown["name"]).exit_code == 0
    assert '"out"' not in run("stream", "list").output
    [letter] = run("message", "peek", "system$;deadxact").output.splitlines()
    assert "two lamps" in letter


def test_a_name_that_no_stream_has_is_an_error(run: Run) -> None:
    for command in ("show", "reset"):
        result = run("stream", command, "out-99")
        assert (result.exit_code != 0, "there is no stream out-99" in result.output) == (True, True)
