"""Tests of the command `reliquary queue`."""

from __future__ import annotations

import json

import click
import pytest

from reliquary import Manager
from reliquary.cli import queue as module
from reliquary.cli.ending import ADVICE
from reliquary.server.exits import Exit
from tests.cli.conftest import Run


def test_a_queue_is_made_and_shown(run: Run) -> None:
    made = run("queue", "create", "orders", "--journaling", "--quota", "64", "--label", "L", "--table")
    assert made.exit_code == 0
    assert "quota                64" in made.output
    shown = json.loads(run("queue", "show", "orders").output)
    assert (shown["name"], shown["settings"]["journaling"]) == ("orders", True)


def test_a_queue_listens_to_a_multicast_address(run: Run) -> None:
    made = run("queue", "create", "ticks", "--multicast", "234.1.1.1:08001", "--table")
    assert "multicast_address    234.1.1.1:8001" in made.output
    assert (
        json.loads(run("queue", "show", "ticks").output)["settings"]["multicast_address"] == "234.1.1.1:8001"
    )
    wrong = run("queue", "create", "tocks", "--multicast", "10.0.0.1:80")
    assert wrong.exit_code != 0
    assert "a multicast address is 224.0.0.0 to 239.255.255.255" in wrong.stderr


def test_a_queue_may_take_signed_messages_only(run: Run, qm: Manager) -> None:
    assert run("queue", "create", "orders", "--authentication").exit_code == 0
    assert qm.queue("orders").info().settings.authentication is True


def test_a_queue_that_exists_is_refused_unless_that_is_all_right(run: Run) -> None:
    run("queue", "create", "orders")
    again = run("queue", "create", "orders")
    assert (again.exit_code, again.stderr) == (
        Exit.REFUSED,
        "reliquary: orders: a queue of this name exists already\n",
    )
    assert run("queue", "create", "orders", "--exist-ok").exit_code == 0


def test_a_pipe_gets_json_lines_and_a_person_a_table(run: Run, qm: Manager) -> None:
    for name in ("a", "b"):
        qm.create_queue(name).send("x")
    lines = [json.loads(line) for line in run("queue", "list").output.splitlines()]
    assert [(line["name"], line["messages"]) for line in lines] == [("a", 1), ("b", 1)]
    table = run("queue", "list", "--table").output.splitlines()
    assert table[0].split() == [
        "queue",
        "messages",
        "locked",
        "delayed",
        "bytes",
        "readers",
        "journaling",
        "transactional",
        "label",
    ]
    assert table[1].split()[:2] == ["a", "1"]


def test_the_managers_own_queues_show_when_asked_for(run: Run) -> None:
    assert run("queue", "list").output == ""
    assert "system$;deadletter" in run("queue", "list", "--all", "--json").output


def test_a_missing_queue_is_not_found(run: Run) -> None:
    for verb in ("show", "delete", "purge"):
        result = run("queue", verb, "nowhere")
        assert (result.exit_code, result.stderr) == (
            Exit.NOT_FOUND,
            f"reliquary: there is no queue nowhere; {ADVICE['QUEUE_NOT_FOUND']}\n",
        )


def test_a_bad_value_names_the_limit(run: Run) -> None:
    result = run("queue", "create", "orders", "--quota", "-1")
    assert result.exit_code == Exit.USAGE
    assert "0 to 4294967295 kilobytes, not -1" in result.stderr


def test_purge_and_delete_tell_how_many_went(run: Run, qm: Manager) -> None:
    qm.create_queue("orders").send_many(["a", "b"])
    assert run("queue", "purge", "orders", "--table").output == "purged orders, 2 messages\n"
    assert json.loads(run("queue", "delete", "orders").output) == {
        "queue": "orders",
        "done": "deleted",
        "messages": 0,
    }


@pytest.mark.parametrize("verb", ["delete", "purge"])
def test_a_person_is_asked_first(run: Run, qm: Manager, monkeypatch: pytest.MonkeyPatch, verb: str) -> None:
    qm.create_queue("orders").send("x")
    asked: list[str] = []

    def no(question: str, err: bool) -> bool:
        asked.append(question)
        return False

    monkeypatch.setattr(module, "_is_person", lambda: True)
    monkeypatch.setattr(click, "confirm", no)
    refused = run("queue", verb, "orders")
    assert (refused.exit_code, refused.stderr) == (0, "Nothing was changed.\n")
    assert len(asked) == 1
    assert "orders" in asked[0]
    assert qm.queue("orders").info().messages == 1
    assert run("queue", verb, "orders", "--yes").exit_code == 0


def test_copies_that_were_lost_are_shown(run: Run, qm: Manager) -> None:
    run("queue", "create", "kept", "--journaling", "--journal-quota", "0")
    kept = qm.queue("kept")
    kept.send("x")
    kept.receive()
    lines = [line.split() for line in run("queue", "show", "kept", "--table").output.splitlines()]
    assert ["copies_lost", "1", "journal"] in lines
    run("queue", "create", "careful", "--journaling", "--journal-required")
    assert qm.queue("careful").info().settings.journal_required
