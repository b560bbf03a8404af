"""Tests the history through the control plane: how it stands, and its export."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from reliquary.server.history_options import HistoryOptions
from tests.console.harness import Harness, play
from tests.console.test_access import ALICE, USERS, ask
from tests.console.test_pages import samples


def test_the_history_is_shown_and_exported(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a", "b")
        seen = await harness.ok("GET", "/history")
        assert (seen["last"], seen["exported"], seen["pending"], seen["files"]) == (2, 0, 2, 0)
        assert (seen["stopped"], seen["missing"], seen["error"], seen["oldest"]) == (False, 0, "", None)
        [file] = (await harness.ok("POST", "/history/export"))["files"]
        assert (file["first"], file["last"]) == (1, 2)
        assert Path(file["path"]).is_relative_to(harness.folder / "history")
        seen = await harness.ok("GET", "/history")
        assert (seen["exported"], seen["pending"], seen["bytes"]) == (2, 0, file["bytes"])
        assert datetime.fromisoformat(seen["oldest"]).tzinfo is not None
        found = samples((await harness.get("/metrics")).body.decode())
        assert found["reliquary_history_events_total"] == found["reliquary_history_exported_total"] == 2
        assert found["reliquary_history_failing"] == 0
        [copied] = (await harness.ok("POST", "/history/export", {"to": str(tmp_path / "lake")}))["files"]
        assert Path(copied["path"]).is_relative_to(tmp_path / "lake")

    play(tmp_path, scene, history=HistoryOptions(every=3600))


def test_what_cannot_be_exported_is_refused_with_the_reason(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")

    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        status, code, why = await harness.refused("POST", "/history/export")
        assert (status, code) == (409, "NOT_DONE")
        assert "taken" in why
        assert (await harness.ok("GET", "/history"))["error"] == why
        assert samples((await harness.get("/metrics")).body.decode())["reliquary_history_failing"] == 1
        refused = await harness.refused("POST", "/history/export", {"to": "here"})
        assert refused == (400, "INVALID_PARAMETER", "to is a full path on the server, from / on, not 'here'")
        assert (await harness.refused("POST", "/history/export", {"into": "/x"}))[0] == 400

    play(tmp_path, scene, history=HistoryOptions(folder=tmp_path / "taken"))


def test_a_history_that_is_off_says_how_to_turn_it_on(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        for method, path in (("GET", "/history"), ("POST", "/history/export")):
            status, code, why = await harness.refused(method, path)
            assert (status, code) == (409, "NOT_DONE")
            assert "enabled = true in the table [history]" in why
        assert "reliquary_history" not in (await harness.get("/metrics")).body.decode()
        assert not (harness.folder / "history").exists()

    play(tmp_path, scene, history=HistoryOptions(enabled=False))


def test_only_administrators_export(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        assert (await ask(harness.control, ALICE, "POST", "/history/export"))[0] == 403

    play(tmp_path, scene, users=USERS)
