"""Tests of the command `reliquary history`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import reliquary
from reliquary import Manager
from reliquary.cli.main import cli
from reliquary.client.errors import ReliquaryError
from reliquary.client.sync.manager import connect
from reliquary.server.exits import Exit
from tests.cli.conftest import Run
from tests.client.served import served


def test_the_history_is_shown_exported_and_copied(run: Run, qm: Manager, tmp_path: Path) -> None:
    qm.create_queue("orders").send("a")
    status = json.loads(run("history", "status").output)
    assert status["last"] >= 1
    assert status["error"] == ""
    fields = dict(line.split(maxsplit=1) for line in run("history", "status", "--table").output.splitlines())
    assert fields["error"] == "-"
    assert list(fields) == list(status)
    copied = [
        json.loads(line) for line in run("history", "export", "--to", tmp_path / "lake").output.splitlines()
    ]
    assert copied[-1]["last"] >= status["last"]
    assert all(Path(file["path"]).is_file() for file in copied)
    assert json.loads(run("history", "status").output)["pending"] == 0
    assert run("history", "export", "--table").output.split() == ["first", "last", "bytes", "path"]
    assert "history" in cli.commands


def test_a_manager_in_process_has_no_history(tmp_path: Path) -> None:
    with reliquary.connect(tmp_path / "data") as manager:
        with pytest.raises(ReliquaryError, match="keeps no history"):
            manager.history()
        with pytest.raises(ReliquaryError, match="keeps no history"):
            manager.export_history()


def test_a_backup_takes_the_history_along_and_both_are_verified(
    run: Run, qm: Manager, tmp_path: Path
) -> None:
    orders = qm.create_queue("orders")
    orders.send("a")
    qm.export_history()
    orders.send("b")  # in a row when the backup is made
    backup = tmp_path / "backup"
    assert run("store", "backup", backup, "--with-history").exit_code == 0
    in_backup = json.loads(run("history", "verify", backup / "history").output)
    assert (in_backup["findings"], in_backup["missing"]) == ([], 0)
    assert run("store", "restore", backup, tmp_path / "again").exit_code == 0
    with served(tmp_path / "again") as again, connect(again.data, control=again.control) as manager:
        manager.queue("orders").send("c")
        manager.export_history()
        last = manager.history().last
    report = json.loads(run("history", "verify", tmp_path / "again" / "history").output)
    assert (report["findings"], report["first"], report["last"]) == ([], 1, last)
    assert last > in_backup["last"]
    assert json.loads(run("history", "verify").output)["findings"] == []


def test_a_damaged_history_has_its_code(run: Run, qm: Manager, tmp_path: Path) -> None:
    for number in range(3):
        qm.create_queue(f"orders-{number}").send("a")
        qm.export_history(str(tmp_path / "copy"))
    names = sorted((tmp_path / "copy").rglob("*.parquet"))
    names[1].unlink()
    result = run("history", "verify", tmp_path / "copy", "--table")
    assert result.exit_code == Exit.HISTORY_DAMAGED
    assert "gap" in result.output
    assert "is wrong in 1 places" in result.stderr
