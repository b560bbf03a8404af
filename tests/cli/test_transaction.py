"""Tests of the command `reliquary transaction`."""

from __future__ import annotations

import json

import pytest

from reliquary import Manager
from reliquary.base.chance import new_guid
from reliquary.net.chance import SystemChance
from reliquary.server.exits import Exit
from tests.cli.conftest import Run


def test_what_was_prepared_waits_for_a_decision(run: Run, qm: Manager) -> None:
    orders = qm.create_queue("orders")
    for verb, left in (("commit", 1), ("abort", 1)):
        transaction = qm.transaction()
        transaction.__enter__()
        orders.send("x")
        transaction.prepare()
        transaction._inner.part()
        listed = json.loads(run("transaction", "list").output)
        assert (listed["id"], listed["prepared"], listed["operations"]) == (transaction.id, True, 1)
        assert transaction.id in run("transaction", "list", "--table").output
        assert run("transaction", verb, transaction.id).exit_code == 0
        assert orders.info().messages == left


def test_a_transaction_that_has_ended_is_refused(run: Run) -> None:
    unknown = "00000000-0000-0000-0000-000000000001"
    result = run("transaction", "commit", unknown)
    assert result.exit_code == Exit.REFUSED
    assert "it has ended, or was never begun" in result.stderr


def test_a_persons_decision_is_shown_with_the_name(
    run: Run, qm: Manager, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOGNAME", "alice")
    theirs = str(new_guid(SystemChance()))
    transaction = qm.transaction(id=theirs, owner="billing")
    with transaction:
        qm.create_queue("orders").send("x")
        transaction.prepare()
        transaction._inner._ended = True  # the coordinator is gone
    listed = run("transaction", "list", "--owner", "billing", "--table").output
    assert all(word in listed for word in (theirs, "prepared", "external", "billing", "orders"))
    assert run("transaction", "list", "--owner", "shipping").output == ""
    assert run("transaction", "abort", theirs).exit_code == 0
    shown = run("transaction", "show", theirs, "--table").output
    assert all(word in shown for word in ("aborted", "alice", "billing"))
    assert json.loads(run("transaction", "show", theirs).output)["decided_by"] == "alice"
    assert theirs in run("transaction", "list", "--ended").output
    refused = run("transaction", "commit", theirs)
    assert refused.exit_code == Exit.REFUSED
    assert "aborted at" in refused.stderr


def test_an_unknown_transaction_is_not_found(run: Run) -> None:
    result = run("transaction", "show", "00000000-0000-0000-0000-000000000001")
    assert result.exit_code == Exit.NOT_FOUND
