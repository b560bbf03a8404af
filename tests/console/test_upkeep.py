"""Requests about the server itself; tests/server/test_reload.py shows what a reload does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.console.harness import Harness, play
from tests.console.test_access import ALICE, ROOT, USERS, ask


def test_a_reload_answers_what_is_in_force_and_is_noted(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reloader = harness.server.reloader
        reloader.read = lambda: replace(reloader.settings, users=USERS[:2], quota=9)
        assert await ask(harness.control, ALICE, "POST", "/config/reload") == (403, ANY_REFUSAL)
        status, report = await ask(harness.control, ROOT, "POST", "/config/reload")
        assert (status, report) == (200, {"applied": ["users"], "restart": ["quota"], "notes": []})
        _, page = await ask(harness.control, ROOT, "GET", "/acts?limit=1")
        [act] = page["acts"]
        assert (act["act"], act["who"], act["detail"]) == ("reload-config", "root", "applied: users")
        assert page["next"]

    play(tmp_path, scene, users=USERS)


def test_a_malformed_page_of_acts_is_refused(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for query in ("after=x", "limit=0", "limit=many"):
            assert (await harness.refused("GET", f"/acts?{query}"))[:2] == (400, "INVALID_PARAMETER")
        assert await harness.ok("GET", "/acts") == {"acts": []}

    play(tmp_path, scene)


class _AnyRefusal:
    """Equal to every refusal for want of a right."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, dict) and other["code"] == "ACCESS_DENIED"

    __hash__ = None  # type: ignore[assignment]


ANY_REFUSAL = _AnyRefusal()
