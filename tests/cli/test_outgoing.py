"""Tests of the command `reliquary outgoing`."""

from __future__ import annotations

import json

import pytest

from reliquary import Manager
from reliquary.server.exits import Exit
from tests.cli.conftest import Run

ELSEWHERE = r"DIRECT=OS:elsewhere\private$\orders"


@pytest.fixture
def waiting(qm: Manager) -> str:
    """Return a destination that a message was sent to."""
    qm.queue(ELSEWHERE).send("x")
    return ELSEWHERE


def test_a_pipe_gets_json_lines_and_a_person_a_table(run: Run, waiting: str) -> None:
    [line] = [json.loads(line) for line in run("outgoing", "list").output.splitlines()]
    assert (line["destination"], line["messages"]) == (waiting, 1)
    table = run("outgoing", "list", "--table").output.splitlines()
    assert table[0].split()[:5] == ["destination", "state", "messages", "failures", "next_attempt"]
    assert table[1].split()[:3] == [waiting, "waiting", "1"]


def test_an_outgoing_queue_is_shown_with_its_last_connections(run: Run, waiting: str) -> None:
    shown = run("outgoing", "show", waiting, "--table").output
    assert "state           waiting" in shown
    assert "in-process" in shown
    assert json.loads(run("outgoing", "show", waiting).output)["destination"] == waiting


def test_an_outgoing_queue_is_paused_and_resumed(run: Run, waiting: str) -> None:
    assert json.loads(run("outgoing", "pause", waiting).output)["state"] == "on-hold"
    assert json.loads(run("outgoing", "resume", waiting).output)["state"] == "waiting"


@pytest.mark.parametrize("verb", ["show", "pause", "resume"])
def test_a_destination_to_which_nothing_was_sent_is_not_found(run: Run, verb: str) -> None:
    result = run("outgoing", verb, r"DIRECT=OS:nowhere\a")
    assert (result.exit_code, result.stderr) == (
        Exit.NOT_FOUND,
        "reliquary: nothing was ever sent to DIRECT=OS:nowhere\\a\n",
    )
