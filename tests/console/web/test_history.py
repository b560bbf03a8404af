"""Tests the page of the history: how it stands, and its latest events."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.console import latest_events
from tests.console.harness import Harness, play
from tests.console.test_access import ALICE, ROOT, USERS, ask
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


def test_a_message_that_has_left_is_found_in_the_latest_events(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        assert "The history has no event yet" in (await reader.read("/console/history")).text
        await harness.send("orders", "a")
        await harness.data.request("POST", "/api/v1/queues/orders/receive")
        page = await reader.read("/console/history")
        assert [row[1] for row in page.rows[1:]] == ["received", "accepted"]
        [link, again] = [link for link in page.links if "message=" in link]
        assert link == again
        assert "to an application by the API" in (await reader.read(link)).text
        monkeypatch.setattr(latest_events, "MOST", 1)  # so that no event that is read names the message
        [link] = [link for link in (await reader.read("/console/history")).links if "number=" in link]
        assert "to an application by the API" in (await reader.read(link)).text
        assert "names message 99" in (await reader.read("/console/history?number=99", 400)).text
        await reader.read("/console/history?number=x", 400)

    play(tmp_path, scene)


def test_latest_events_of_queues_that_a_user_may_not_look_at_are_counted(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await ask(harness.data, ROOT, "POST", "/queues/orders/messages", {"text": "a"})
        for token, sentences in ((ROOT, 0), (ALICE, 1)):
            reader = Reader(harness)
            await reader.post("/console/sign-in", (await reader.read("/console/sign-in")).csrf, token=token)
            page = await reader.read("/console/history")
            assert page.text.count("1 of the latest events are about queues") == sentences
            assert page.text.count("accepted") == 1 - sentences

    play(tmp_path, scene, users=USERS)
