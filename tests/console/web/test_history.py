"""The page of the history: how it stands."""

from __future__ import annotations

from pathlib import Path

from tests.console.harness import Harness, play
from tests.console.web.harness import Reader


def test_the_page_shows_how_far_the_history_is_in_files(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        await harness.ok("POST", "/history/export", {})
        page = await Reader(harness).read("/console/history")
        assert "exported up to event" in page.text
        assert str(harness.folder / "history") in page.text

    play(tmp_path, scene)


def test_a_text_that_is_no_identifier_stays_in_the_field_beside_the_reason(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        page = await Reader(harness).read("/console/history?message=what", 400)
        assert "message is the id of a message" in page.text
        assert [each["value"] for each in page.all("input") if each.get("name") == "message"] == ["what"]

    play(tmp_path, scene)
