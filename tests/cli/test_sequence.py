"""Tests of the command `reliquary sequence`."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.request import Request, urlopen

import reliquary
from reliquary import Manager
from tests.cli.conftest import Run
from tests.client.served import Served, served

COLUMNS = [
    "number", "direction", "state", "queue", "acknowledged", "gaps", "unacknowledged", "retransmissions",
    "held", "duplicates", "room",
]  # fmt: skip
ADDRESSING = "http://www.w3.org/2005/08/addressing"
MESSAGING = "http://docs.oasis-open.org/ws-rx/wsrm/200702"


def create(server: Served, queue: str) -> None:
    """Let a client create a sequence."""
    envelope = (
        '<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope"'
        f' xmlns:a="{ADDRESSING}" xmlns:r="{MESSAGING}"><s:Header>'
        f"<a:Action>{MESSAGING}/CreateSequence</a:Action>"
        f"<a:MessageID>urn:uuid:6ba7b810-9dad-11d1-80b4-00c04fd430c8</a:MessageID>"
        f"<a:To>{server.data}/wsrm/{queue}</a:To></s:Header>"
        f"<s:Body><r:CreateSequence><r:AcksTo><a:Address>{ADDRESSING}/anonymous</a:Address></r:AcksTo>"
        "</r:CreateSequence></s:Body></s:Envelope>"
    )
    headers = {"Content-Type": "application/soap+xml; charset=utf-8"}
    with urlopen(Request(f"{server.data}/wsrm/{queue}", envelope.encode(), headers)) as answer:
        assert b"CreateSequenceResponse" in answer.read()


def test_without_sequences_there_is_nothing_to_list(run: Run) -> None:
    assert run("sequence", "list").output == ""
    assert run("sequence", "list", "--table").output.split() == COLUMNS


def test_a_sequence_is_listed_shown_closed_and_terminated(
    run: Run, qm: Manager, shared_server: Served
) -> None:
    qm.create_queue("bought")
    create(shared_server, "bought")
    [found] = [each for each in qm.sequences() if each.queue == "bought"]
    number = str(found.number)
    assert (found.direction, found.state, found.version, found.room) == ("in", "open", "1.1", 8)
    assert qm.sequence(found.number) == found
    heads, *rows = run("sequence", "list", "--table").output.splitlines()
    assert heads.split() == COLUMNS
    assert [number, "in", "open", "bought"] in [row.split()[:4] for row in rows]
    shown = json.loads(run("sequence", "show", number).output)
    assert (shown["endpoint"], shown["identifier"]) == ("bought", found.identifier)
    assert json.loads(run("sequence", "close", number).output)["state"] == "closed"
    lines = run("sequence", "terminate", number, "--table").output.splitlines()
    fields = dict(line.split(maxsplit=1) for line in lines)
    assert (fields["state"], fields["gaps"]) == ("ended", "-")
    refused = run("sequence", "close", number)
    assert refused.exit_code == 3, refused.output


def test_an_outgoing_sequence_is_seen_from_both_ends(run: Run, qm: Manager, tmp_path: Path) -> None:
    with (
        served(tmp_path / "other") as other,
        reliquary.connect(other.data, control=other.control) as there,
    ):
        there.create_queue("orders")
        to = f"DIRECT=WSRM://{other.data.removeprefix('http://')}/wsrm/orders"
        assert run("message", "send", to, "two lamps").exit_code == 0
        message = there.queue("orders").receive(timeout=20)
        assert message is not None
        assert message.text == "two lamps"
        while not (out := [each for each in qm.sequences() if each.acknowledged]):
            pass
        [seen] = there.sequences()
        assert (out[0].direction, seen.direction) == ("out", "in")
        assert out[0].identifier == seen.identifier
        assert (out[0].acknowledged, seen.acknowledged) == ("1", "1")
        assert qm.terminate_sequence(out[0].number).direction == "out"


def test_what_is_not_there_is_not_found(run: Run) -> None:
    for command in ("show", "close", "terminate"):
        done = run("sequence", command, "99")
        assert (done.exit_code, done.output) == (4, "reliquary: there is no sequence 99\n")
