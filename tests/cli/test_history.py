"""`reliquary history`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import reliquary
from reliquary import Manager
from reliquary.cli.main import cli
from reliquary.client.errors import ReliquaryError
from tests.cli.conftest import Run


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
