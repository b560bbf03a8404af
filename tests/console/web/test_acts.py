"""Tests of the web page that shows the log of acts."""

from __future__ import annotations

from pathlib import Path

from tests.console.harness import Harness, play
from tests.console.test_access import ALICE, ROOT, USERS
from tests.console.web.harness import Reader


def test_the_page_shows_who_did_what_and_leads_to_older_acts(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        assert "No act was noted" in (await reader.read("/console/acts")).text
        for number in range(101):
            await harness.server.reloader.acts.note("alice", "10.0.0.1", "purge-queue", f"<b>{number}</b>")
        page = await reader.read("/console/acts")
        assert "<b>100</b>" in page.text
        assert not page.all("b")
        assert page.rows[0] == ["time", "who", "act", "object", "outcome", "times", "from"], "no act says why"
        [older] = [link for link in page.links if "after=" in link]
        text = (await reader.read(older)).text
        assert "<b>0</b>" in text
        assert "<b>1</b>" not in text
        assert "No act was noted" in (await reader.read("/console/acts?who=bob")).text
        harness.server.reloader.acts.trouble = "the log of acts cannot be written: full"
        for path in ("/console/acts", "/console/alarms"):
            assert "cannot be written: full" in (await reader.read(path)).text

    play(tmp_path, scene)


def test_users_without_the_right_do_not_see_the_log_of_acts(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for token, status in ((ALICE, 403), (ROOT, 200)):
            reader = Reader(harness)
            await reader.post("/console/sign-in", (await reader.read("/console/sign-in")).csrf, token=token)
            assert (await reader.get("/console/acts")).status == status

    play(tmp_path, scene, users=USERS)
