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
        assert "exported" in page.text
        assert str(harness.folder / "history") in page.text

    play(tmp_path, scene)
