"""Tests the first page: numbers, charts and alarms, and the part that renews itself."""

from __future__ import annotations

from pathlib import Path

from tests.console.harness import Harness, play
from tests.console.test_access import USERS
from tests.console.web.harness import Outline, Reader


def test_the_first_page_shows_what_the_manager_holds(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for path in ("/", "/console/"):
            answer = await harness.get(path)
            assert (answer.status, dict(answer.headers)[b"location"]) == (307, b"/console")
        await harness.send("orders", "a", "b")
        for _ in range(2):
            await harness.server.sampler.take()
        page = await Reader(harness).read("/console")
        assert "There is no alarm" in page.text
        labels = [each["aria-label"] or "" for each in page.all("svg")]
        assert [label.partition(":")[0] for label in labels] == [
            "Messages a second",
            "Messages in all queues",
            "Milliseconds until an event is on disk",
            "Syncs of the store a second",
        ]
        assert "messages 2" in labels[1]
        live = Outline((await harness.get("/console/live")).body.decode())
        assert not live.all("html")
        assert len(live.all("svg")) == 4

    play(tmp_path, scene)


def test_alarms_have_a_page_and_lead_to_their_object(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.ok("POST", "/manager/offline")
        page = await Reader(harness).read("/console/alarms")
        assert "The manager is offline" in page.text
        assert "The manager is offline" in (await Reader(harness).read("/console")).text

    play(tmp_path, scene)


def test_a_stranger_is_led_to_the_sign_in(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for path in (
            "/console",
            "/console/live",
            "/console/alarms",
            "/console/history",
            "/console/consumers",
        ):
            answer = await harness.get(path)
            assert (answer.status, dict(answer.headers)[b"location"]) == (303, b"/console/sign-in"), path

    play(tmp_path, scene, users=USERS)
