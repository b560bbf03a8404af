"""The web console in a real browser: Debian's Chromium, driven by Playwright, checked by axe.

The pictures of all pages are kept in `.artefacts/screenshots`; CONSOLE_SCREENSHOTS names another folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import ConsoleMessage, Page, async_playwright

from reliquary.console.web.pages import KEYS
from tests.console.harness import Harness, play
from tests.console.test_access import ROOT, USERS
from tests.console.web.test_alarms import poisoned

SCREENSHOTS: Final = Path(
    os.environ.get("CONSOLE_SCREENSHOTS") or Path(__file__).parents[2] / ".artefacts/screenshots"
)
CHROMIUM: Final = "/usr/bin/chromium"
FLAGS: Final = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update",
)  # fmt: skip
PAGES: Final = {
    "overview": "/console",
    "queues": "/console/queues",
    "queue": "/console/queue?name=orders",
    "poison": "/console/queue?name=orders%3Bpoison",
    "journals": "/console/journals",
    "outgoing": "/console/records/outgoing",
    "consumers": "/console/consumers",
    "history": "/console/history",
    "acts": "/console/acts",
    "no-records": "/console/records/streams",
    "sign-in": "/console/sign-in",
    "alarms": "/console/alarms",
    "not-found": "/console/queue?name=nowhere",
}
WIDE: Final = {"width": 1200, "height": 900}
PHONE: Final = {"width": 390, "height": 844}

pytestmark = pytest.mark.needs("chromium")


@asynccontextmanager
async def browsing(harness: Harness) -> AsyncIterator[Page]:
    """Yield a page of a browser; an error of a script or of the content policy fails the test."""
    wrong: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error" and "the server responded with a status of 40" not in message.text:
            wrong.append(message.text)

    async with async_playwright() as driver:
        browser = await driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        context = await browser.new_context(base_url=harness.control_url, viewport=WIDE)  # type: ignore[arg-type]
        page = await context.new_page()
        page.on("console", on_console)
        page.on("pageerror", lambda why: wrong.append(str(why)))
        try:
            yield page
        finally:
            await browser.close()
    assert not wrong


async def picture(page: Page, name: str) -> None:
    await page.screenshot(path=SCREENSHOTS / f"{name}.png", full_page=True)


def browse(folder: Path, scene: Callable[[Harness, Page], Awaitable[None]], **chosen: Any) -> None:
    """Run a scene in a browser on a whole server."""

    async def whole(harness: Harness) -> None:
        async with browsing(harness) as page:
            await scene(harness, page)

    play(folder, whole, **{"seconds": 110} | chosen)


def test_every_page_can_be_used_by_everyone_and_fits_a_phone(tmp_path: Path) -> None:
    async def scene(harness: Harness, page: Page) -> None:
        await poisoned(harness, "bad")
        await harness.send("orders", "hello", '{"a": 1}')
        await harness.send("DIRECT=OS:elsewhere%5Cprivate$%5Corders", "far away")
        await harness.data.request("POST", "/api/v1/queues/orders/consumers", b'{"name": "lake"}')
        peeked = await harness.data.request("GET", "/api/v1/queues/orders/messages")
        message = json.loads(peeked.body)["messages"][0]
        of_message = {
            "message": "/console/message?"
            + urlencode({"queue": "orders", "lookup_id": message["lookup_id"]}),
            "trace": "/console/history?" + urlencode({"message": message["id"]}),
        }
        await harness.server.sampler.take()
        for theme in ("light", "dark"):
            await page.emulate_media(color_scheme=theme)
            for name, path in (PAGES | of_message).items():
                await page.set_viewport_size(WIDE)  # type: ignore[arg-type]
                await page.goto(path)
                found = await Axe().run(page)
                assert found.violations_count == 0, f"{name} {theme}: {found.generate_report()}"
                await picture(page, f"{name}-{theme}")
                await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
                width = await page.evaluate("document.documentElement.scrollWidth")
                assert width <= PHONE["width"], f"{name} is {width} wide"
                await picture(page, f"{name}-{theme}-phone")

    browse(tmp_path, scene)


def test_a_person_creates_a_queue_sends_a_message_and_reads_its_history(tmp_path: Path) -> None:
    async def scene(harness: Harness, page: Page) -> None:
        await page.goto("/console/queues")
        await page.get_by_label("Name", exact=True).fill("lamps")
        await page.get_by_role("button", name="Create").click()
        await page.locator("textarea").fill("<order>two lamps</order>")
        await page.get_by_role("button", name="Send", exact=True).click()
        await page.get_by_text("was sent.").wait_for()
        await page.locator("tbody th a").first.click()
        await page.get_by_text("History of the message").wait_for()
        assert "<order>two lamps</order>" in await page.locator("pre").first.inner_text()
        assert "accepted" in await page.locator("main").inner_text()
        steps = await page.locator(".way li").all_inner_texts()
        assert [step.removeprefix("→") for step in steps] == ["HERE from an application by api, in lamps"]
        found = await Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        await picture(page, "message")

    browse(tmp_path, scene)


def test_the_overview_renews_itself_and_keys_lead_to_pages(tmp_path: Path) -> None:
    async def scene(harness: Harness, page: Page) -> None:
        await page.goto("/console")
        await harness.send("orders", "a", "b", "c")
        await page.locator(".tiles li", has_text="messages").get_by_text("3", exact=True).wait_for()
        await page.keyboard.press("?")
        assert await page.get_by_role("dialog").is_visible()
        await picture(page, "keys")
        await page.keyboard.press("Escape")
        for path, key in (*KEYS.items(), ("/console/queues", "q")):
            await page.keyboard.press("g")
            await page.keyboard.press(key)
            await page.wait_for_url(f"**{path}")
            await page.locator("h1").wait_for()
        await page.keyboard.press("/")
        await page.keyboard.type("ord")
        await page.keyboard.press("Enter")
        await page.get_by_role("link", name="orders", exact=True).wait_for()

    browse(tmp_path, scene)


def test_a_person_signs_in_with_a_token(tmp_path: Path) -> None:
    async def scene(_: Harness, page: Page) -> None:
        await page.goto("/console")
        await page.get_by_label("Token").fill("wrong")
        await page.get_by_role("button", name="Sign in with the token").click()
        await page.get_by_text(
            "the token belongs to no user of this server: check it, or get a new one"
        ).wait_for()
        await page.get_by_label("Token").fill(ROOT)
        await page.get_by_role("button", name="Sign in with the token").click()
        await page.get_by_text("You are signed in as root.").wait_for()
        await page.get_by_role("button", name="Sign out root").click()
        await page.get_by_text("You are signed out.").wait_for()

    browse(tmp_path, scene, users=USERS)
