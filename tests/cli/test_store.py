"""Tests of the command `reliquary store`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import reliquary
from reliquary import Manager
from reliquary.server.exits import Exit
from reliquary.store import RocksDisk, tables_in
from reliquary.store.disk import Changes
from tests.cli.conftest import Run


@pytest.fixture
def stopped(tmp_path: Path) -> Path:
    """Return the folder of a manager that is stopped."""
    with reliquary.connect(tmp_path / "data") as manager:
        manager.create_queue("orders").send("kept")
    return tmp_path / "data"


def test_a_running_store_is_verified_and_backed_up(run: Run, qm: Manager, tmp_path: Path) -> None:
    qm.create_queue("orders").send("kept")
    report = json.loads(run("store", "verify").output)
    assert (report["damaged"], report["rows"]["positions"]) == (0, 1)
    assert run("store", "backup", tmp_path / "copy").exit_code == 0
    assert json.loads(run("store", "verify", tmp_path / "copy").output)["damaged"] == 0


def test_a_stopped_store_goes_there_and_back(run: Run, stopped: Path, tmp_path: Path) -> None:
    assert "messages" in run("store", "verify", stopped, "--table").output
    assert run("store", "backup", tmp_path / "copy", "--from", stopped).exit_code == 0
    result = run("store", "restore", tmp_path / "copy", tmp_path / "again")
    assert "reliquary serve --data" in result.output
    with reliquary.connect(tmp_path / "again") as manager:
        message = manager.queue("orders").receive()
        assert message is not None
        assert message.text == "kept"


def test_damage_is_reported_with_its_code(run: Run, stopped: Path) -> None:
    disk = RocksDisk(stopped, tables_in(stopped))
    disk.apply(Changes(puts={"messages": {b"key": b"not a row"}}))
    disk.close()
    result = run("store", "verify", stopped, "--table")
    assert result.exit_code == Exit.STORE_DAMAGED
    assert result.stderr == "reliquary: the store is damaged in 1 places\n"
    assert b"key".hex() in result.output


def test_a_folder_in_use_has_its_code(run: Run, stopped: Path, tmp_path: Path) -> None:
    with reliquary.connect(stopped):
        for line in (("verify", stopped), ("backup", tmp_path / "copy", "--from", stopped)):
            result = run("store", *line)
            assert result.exit_code == Exit.STORE_LOCKED
            assert "in use by another process" in result.stderr


def test_a_folder_without_a_store_has_its_code(run: Run, tmp_path: Path) -> None:
    result = run("store", "verify", tmp_path / "nothing")
    assert result.exit_code == Exit.STORE_MISSING
    assert result.stderr.count("\n") == 1


def test_a_restore_needs_an_empty_folder(run: Run, stopped: Path, tmp_path: Path) -> None:
    result = run("store", "restore", stopped, stopped)
    assert result.exit_code == Exit.USAGE
    assert "empty folder" in result.stderr
    assert run("store", "restore", tmp_path / "nothing", tmp_path / "new").exit_code == Exit.USAGE
