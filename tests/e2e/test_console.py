"""Tests the web console in a real browser: Debian's Chromium, driven by Playwright, checked by axe.

The pictures of all pages are kept in `.artefacts/screenshots`; CONSOLE_SCREENSHOTS names another folder.
"""

from __future__ import annotations

import json
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlencode

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import ConsoleMessage, Page, async_playwright

from reliquary.console.web.pages import KEYS
from tests.console.harness import Harness, play
from tests.console.test_access import ROOT, USERS
from tests.console.web.exchange import IN_DOUBT, LISTS, TABLES, exchange
from tests.console.web.test_alarms import poisoned
from tests.console.web.test_queues import SENDER

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
EMPTY_LISTS: Final = (
    "/console/queues?find=nothing",
    "/console/journals",
    "/console/consumers",
    *(f"/console/records/{plural}" for plural in LISTS),
)
DEAD_LETTERS: Final = b'[{"text": "late", "deadletter": true}, {"text": "too late", "deadletter": true}]'
Theme = Literal["light", "dark"]
WIDE: Final = {"width": 1200, "height": 900}
PHONE: Final = {"width": 390, "height": 844}

pytestmark = pytest.mark.needs("chromium")


@asynccontextmanager
async def browsing(harness: Harness, expected: str = "") -> AsyncIterator[Page]:
    """Yield a page of a browser; an error of a script or of the content policy fails the test.

    `expected` is an error that a script reports in the scene.
    """
    wrong: list[str] = []

    def on_console(message: ConsoleMessage) -> None:
        if message.type == "error" and "the server responded with a status of 40" not in message.text:
            wrong.extend([message.text] if message.text != expected else [])

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


async def look(page: Page, name: str) -> None:
    """Check a page with axe, and its width on a phone; keep pictures of both widths."""
    await page.set_viewport_size(WIDE)  # type: ignore[arg-type]
    found = await Axe().run(page)
    assert found.violations_count == 0, f"{name}: {found.generate_report()}"
    await picture(page, name)
    await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
    width = await page.evaluate("document.documentElement.scrollWidth")
    assert width <= PHONE["width"], f"{name} is {width} wide"
    await picture(page, f"{name}-phone")


def browse(
    folder: Path, scene: Callable[[Harness, Page], Awaitable[None]], expected: str = "", **chosen: Any
) -> None:
    """Run a scene in a browser on a whole server."""

    async def whole(harness: Harness) -> None:
        async with browsing(harness, expected) as page:
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
                await page.goto(path)
                await look(page, f"{name}-{theme}")

    browse(tmp_path, scene)


def test_the_overview_says_when_the_server_does_not_answer(tmp_path: Path) -> None:
    async def scene(_: Harness, page: Page) -> None:
        silent = page.get_by_text("The server does not answer.")
        await page.route("**/api/v1/events", lambda route: route.fulfill(status=404))
        await page.goto("/console")
        await silent.wait_for()
        await look(page, "silent-light")
        await page.unroute("**/api/v1/events")
        await silent.wait_for(state="hidden")

    browse(tmp_path, scene, "[object Event]")  # as htmx reports the end of a stream of events


async def sign_in(page: Page, token: str) -> None:
    await page.goto("/console/sign-in")
    await page.get_by_label("Token").fill(token)
    await page.get_by_role("button", name="Sign in with the token").click()


@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_forms_refusals_and_empty_lists_can_be_used_by_everyone(theme: Theme, tmp_path: Path) -> None:
    async def scene(_: Harness, page: Page) -> None:
        await page.emulate_media(color_scheme=theme)
        await page.goto("/console")
        await look(page, f"sign-in-form-{theme}")
        await sign_in(page, "wrong")
        await look(page, f"sign-in-refused-{theme}")
        await page.context.set_extra_http_headers({"Authorization": "Bearer wrong"})
        await page.goto("/console/queues")
        assert await page.title() == "Not admitted - Reliquary"
        await look(page, f"denied-{theme}")
        await page.context.set_extra_http_headers({})
        await sign_in(page, "sue-token")
        await page.get_by_text("You are signed in as sue.").wait_for()
        await look(page, f"notice-{theme}")
        await page.goto(PAGES["queue"])
        await page.get_by_text("You may not look at its messages").wait_for()
        await look(page, f"few-rights-{theme}")
        await sign_in(page, ROOT)
        await page.get_by_text("You are signed in as root.").wait_for()
        await page.keyboard.press("?")
        await page.get_by_role("dialog").wait_for()
        await look(page, f"keys-{theme}")
        await page.goto(PAGES["queue"])
        for each in await page.locator("details > summary").all():
            await each.click()
        await look(page, f"opened-{theme}")
        await page.get_by_label("Name of the queue").fill("order")
        await page.get_by_role("button", name="Delete all messages").click()
        await page.get_by_role("heading", name="This was not done").wait_for()
        await look(page, f"form-refused-{theme}")
        for path in EMPTY_LISTS:
            await page.goto(path)
            await page.locator(".empty").first.wait_for()
            await look(page, f"empty-{path.rpartition('/')[2].partition('?')[0]}-{theme}")

    browse(tmp_path, scene, users=(*USERS, SENDER), seconds=500)


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
        assert [step.removeprefix("→") for step in steps] == ["HERE from an application by the API, in lamps"]
        found = await Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        await picture(page, "message")

    browse(tmp_path, scene)


def test_a_person_mends_what_is_wrong_by_clicking(tmp_path: Path) -> None:
    async def scene(harness: Harness, page: Page) -> None:
        async def count(queue: str) -> int:
            found = (await harness.ok("GET", f"/queues/{queue}"))["messages"]
            assert isinstance(found, int)
            return found

        async def done(notice: str) -> None:
            await page.locator(".notice", has_text=notice).wait_for()

        await harness.ok("POST", "/queues", {"name": "lamps"})
        await harness.data.request("POST", "/api/v1/queues/orders/messages", DEAD_LETTERS)
        await harness.ok("POST", "/queues/orders/purge")
        await page.goto("/console")
        await page.locator(".alarms").get_by_role("link", name="system$;deadletter").click()
        await page.get_by_role("button", name="Return message").first.click()
        await done("The message was returned to orders.")
        await page.get_by_role("button", name="Return all messages to the queues they came from").click()
        await done("Returned to their queues: 1.")
        assert (await count("orders"), await count("system$;deadletter")) == (2, 0)

        await page.goto(PAGES["queue"])
        await page.locator("tbody th a").first.click()
        await page.get_by_label("To the queue").fill("lamps")
        await page.get_by_role("button", name="Move", exact=True).click()
        await done("The message was moved to lamps.")
        assert (await count("orders"), await count("lamps")) == (1, 1)
        await page.get_by_text("Purge or delete").click()
        await page.get_by_label("Name of the queue").fill("orders")
        await page.get_by_role("button", name="Delete all messages").click()
        await done("1 messages were deleted.")
        assert (await count("orders"), await count("lamps")) == (0, 1)

        await harness.send("DIRECT=OS:elsewhere%5Cprivate$%5Corders", "far away")
        await page.goto(PAGES["outgoing"])
        for verb, other, state in (("Pause", "Resume", True), ("Resume", "Pause", False)):
            await page.get_by_role("button", name=verb).click()
            await done(f"was {verb.lower()}d.")
            await page.get_by_role("button", name=other).wait_for()
            [queue] = (await harness.ok("GET", "/outgoing"))["outgoing"]
            assert (queue["state"] == "on-hold") is state
            await page.goto(PAGES["outgoing"])

    browse(tmp_path, scene)


@pytest.mark.long
def test_a_person_ends_a_transaction_in_doubt_by_clicking(tmp_path: Path) -> None:
    async def scene(harness: Harness, page: Page) -> None:
        async with AsyncExitStack() as more:
            await exchange(harness, tmp_path / "far", more)
            await page.goto("/console")
            await page.locator(".alarms").get_by_role("link", name="transactions").click()
            await page.get_by_role("link", name=IN_DOUBT).click()
            await page.get_by_role("button", name="Commit").click()
            await page.locator(".notice", has_text=f"Transaction {IN_DOUBT} was committed.").wait_for()
            assert (await harness.ok("GET", "/queues/ordered"))["messages"] == 2

    browse(tmp_path / "here", scene, tables=TABLES)


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
