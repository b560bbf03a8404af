"""The page of the history: how it stands."""

from __future__ import annotations

from pathlib import Path

from tests.console.harness import Stage, play
from tests.console.web.harness import Reader


def test_the_page_shows_how_far_the_history_is_in_files(tmp_path: Path) -> None:
    async def scene(stage: Stage) -> None:
        await stage.send("orders", "a")
        await stage.ok("POST", "/history/export", {})
        page = await Reader(stage).read("/console/history")
        assert "exported" in page.text
        assert str(stage.folder / "history") in page.text

    play(tmp_path, scene)
