"""Tests of the command `reliquary channel`."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.request import Request, urlopen

import reliquary
from reliquary import Manager
from tests.cli.conftest import Run
from tests.client.served import Served, served

COLUMNS = [
    "number", "role", "state", "requester", "name", "responder", "last_source_id", "in_doubt",
    "last_received_id",
]  # fmt: skip
FIRST = "0000000000000001"


def test_without_channels_there_is_nothing_to_list(run: Run) -> None:
    assert run("channel", "list").output == ""
    assert run("channel", "list", "--table").output.split() == COLUMNS


def test_a_channel_is_seen_from_both_ends_reported_and_forgotten(run: Run, tmp_path: Path) -> None:
    with (
        served(tmp_path / "other") as other,
        reliquary.connect(other.data, control=other.control) as there,
    ):
        there.create_queue("orders")
        agent = f"httpr://{other.data.removeprefix('http://')}/httpr/mq"
        assert run("message", "send", f"DIRECT={agent}#orders", "two lamps").exit_code == 0
        message = there.queue("orders").receive(timeout=20)
        assert message is not None
        assert message.text == "two lamps"
        while (shown := json.loads(run("channel", "show", "1").output))["state"] != "ready":
            pass
        assert (shown["role"], shown["name"], shown["responder"]) == ("client", "orders", agent)
        assert (shown["last_source_id"], shown["in_doubt"]) == (FIRST, [])
        [seen] = there.channels()
        assert (seen.role, seen.requester, seen.last_received_id) == ("server", shown["requester"], FIRST)
        assert there.channel(seen.number) == seen
        heads, row = run("channel", "list", "--table").output.splitlines()
        assert heads.split() == COLUMNS
        assert row.split()[:3] == ["1", "client", "ready"]
        assert json.loads(run("channel", "report", "1").output)["state"] == "ready"
        lines = run("channel", "forget", "1", "--table").output.splitlines()
        fields = dict(line.split(maxsplit=1) for line in lines)
        assert (fields["state"], fields["session"], fields["source_forgotten"]) == ("closed", "-", "yes")
        assert there.channel(seen.number).last_received_id == "0" * 16


def test_batches_in_doubt_are_shown_with_their_messages(run: Run, qm: Manager, shared_server: Served) -> None:
    qm.create_queue("fetched")
    qm.queue("fetched").send_many(["a", "b"])
    header = b"requester:httpr://app.example/till\r\nchannel:main\r\n"
    body = b"request:PULL HTTPR/1.0\r\n" + header + b"\r\n"
    with urlopen(Request(f"{shared_server.data}/httpr/fetched", body)) as answer:
        assert b"payload-disposition:last" in answer.read()
    number = next(each.number for each in qm.channels() if each.in_doubt)
    lines = run("channel", "show", str(number), "--table").output.splitlines()
    assert lines[-2].split() == ["id", "queue", "messages", "since"]
    assert lines[-1].split()[:3] == [FIRST, "fetched", "2"]
    refused = run("channel", "forget", str(number))
    assert refused.exit_code == 3
    assert f"channel {number} cannot be forgotten while it is in doubt about 1" in refused.output
    assert run("channel", "settle", str(number)).exit_code == 2, "it must be said how"
    settled = json.loads(run("channel", "settle", str(number), "--lost").output)
    assert settled["in_doubt"] == []
    assert [message.text for message in qm.queue("fetched").browse()] == ["a", "b"]
    refused = run("channel", "settle", str(number), "--arrived")
    assert (refused.exit_code, "nothing is in doubt" in refused.output) == (3, True)


def test_what_is_not_there_is_not_found(run: Run) -> None:
    for command in (["show"], ["report"], ["forget"], ["settle", "--lost"]):
        done = run("channel", *command, "99")
        assert (done.exit_code, done.output) == (4, "reliquary: there is no channel 99\n")
