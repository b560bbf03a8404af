"""Tests of the command `reliquary access`."""

from __future__ import annotations

import json

from reliquary.cli.ending import ADVICE
from reliquary.server.exits import Exit
from tests.cli.conftest import Run


def test_a_list_is_shown_to_a_person_and_to_a_pipe(run: Run) -> None:
    run("queue", "create", "orders")
    table = run("access", "show", "orders", "--table").output.splitlines()
    assert table[0] == "owner: anonymous"
    assert [line.split() for line in table[1:]] == [
        ["user", "entry", "rights"],
        ["everyone", "allow", "generic-all"],
        ["anonymous", "allow", "write-message"],
    ]
    shown = json.loads(run("access", "show", "orders").output)
    assert shown["entries"][0]["sid"] == "S-1-1-0"


def test_rights_are_granted_denied_and_revoked_by_name(run: Run) -> None:
    run("queue", "create", "orders")
    run("access", "revoke", "orders", "anonymous")

    def entries(*arguments: str) -> list[tuple[str, bool, list[str]]]:
        done = run("access", *arguments)
        assert done.exit_code == 0, done.output
        return [(each["sid"], each["allow"], each["rights"]) for each in json.loads(done.output)["entries"]]

    everyone = ("S-1-1-0", True, ["generic-all"])
    sid = "S-1-5-21-1-2-3-1001"
    assert entries("grant", "orders", sid, "send", "peek") == [
        everyone,
        (sid, True, ["peek-message", "write-message"]),
    ]
    assert entries("deny", "orders", sid, "peek") == [
        (sid, False, ["peek-message"]),
        everyone,
        (sid, True, ["write-message"]),
    ]
    assert entries("revoke", "orders", sid, "send") == [(sid, False, ["peek-message"]), everyone]
    assert entries("revoke", "orders", sid) == [everyone]


def test_an_owner_is_named(run: Run) -> None:
    run("queue", "create", "orders")
    shown = json.loads(run("access", "owner", "orders", "administrators").output)
    assert (shown["owner"], shown["owner_sid"]) == ("administrators", "S-1-5-32-544")


def test_the_manager_has_a_list_too(run: Run) -> None:
    granted = run("access", "grant", ".", "authenticated", "create-queue")
    assert granted.exit_code == 0
    assert run("access", "revoke", ".", "authenticated").exit_code == 0


def test_an_impossible_change_ends_with_one_sentence(run: Run) -> None:
    run("queue", "create", "orders")
    missing = run("access", "show", "nowhere")
    assert (missing.exit_code, missing.stderr) == (
        Exit.NOT_FOUND,
        f"reliquary: there is no queue nowhere; {ADVICE['QUEUE_NOT_FOUND']}\n",
    )
    wrong = run("access", "grant", "orders", "everyone", "fly")
    assert wrong.exit_code == Exit.USAGE
    assert "there is no right 'fly'" in wrong.stderr
    assert run("access", "grant", "orders", "everyone").exit_code == Exit.USAGE
