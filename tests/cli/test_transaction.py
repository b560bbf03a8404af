"""`reliquary transaction`."""

from __future__ import annotations

import json

from reliquary import Manager
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


def test_one_that_has_ended_is_refused(run: Run) -> None:
    unknown = "00000000-0000-0000-0000-000000000001"
    result = run("transaction", "commit", unknown)
    assert result.exit_code == Exit.REFUSED
    assert "has ended or never was" in result.stderr
