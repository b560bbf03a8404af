"""Pages of streams, channels, sequences, associations, sessions and transactions, with records in them.

Two managers exchange messages by every protocol; then each list and one of its records is looked at in a
real browser, in light and dark, wide and on a phone.
"""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Literal
from uuid import UUID

import pytest
from axe_playwright_python.async_playwright import Axe  # type: ignore[import-untyped]
from playwright.async_api import Page

from reliquary.client.connect import connect_async
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.views import associations
from reliquary.server.mqqb import MqqbEndpoint
from reliquary.server.mqqb_options import MqqbOptions
from reliquary.server.mqqp import MqqpEndpoint
from reliquary.server.mqqp_options import MqqpOptions
from tests.console.harness import Harness
from tests.e2e.test_console import PHONE, WIDE, browse, picture
from tests.net.http.harness import until
from tests.server.endpoints import endpoint_of
from tests.server.mqqb_peer import connect_peer, message_to
from tests.server.test_srmp_between import site

Theme = Literal["light", "dark"]
LISTS = ("outgoing", "streams", "channels", "sequences", "rpc", "sessions", "transactions", "writers")
TABLES = (
    MqqbOptions(enabled=True, listen_port=0),
    MqqpOptions(enabled=True, handshake_port=0, read_port=0),
)

pytestmark = pytest.mark.needs("chromium")


async def exchange(harness: Harness, folder: Path, more: AsyncExitStack) -> None:
    """Let records of all protocols appear, and keep them while the stack is open."""
    here = harness.url.removeprefix("http://")
    ordered = await more.enter_async_context(connect_async(harness.url, control=harness.control_url))
    await ordered.create_queue("ordered", transactional=True)
    await ordered.create_queue("nothing")
    far = await more.enter_async_context(site(folder))
    await far.create("back", transactional=True)
    await far.commit(f"DIRECT=http://{here}/msmq/private$/ordered", "by SRMP")
    await far.send(f"DIRECT=HTTPR://{here}/httpr/mq#orders", "by HTTPR")
    await far.send(f"DIRECT=WSRM://{here}/wsrm/orders", "by WS-RM")
    async with ordered.transaction():
        await ordered.queue(far.destination("back")).send("back by SRMP")
    prepared = ordered.transaction(id=str(UUID(int=7)), owner="shop")
    await prepared.begin()
    await ordered.queue("ordered", transaction=prepared).send("in doubt")
    await prepared.prepare()
    peer = await connect_peer(endpoint_of(harness.server, MqqbEndpoint).bound[1])
    more.callback(peer.close)
    await peer.open()
    peer.send(message_to(r"TCP:127.0.0.1\orders", b"by MQQB"))
    port = endpoint_of(harness.server, MqqpEndpoint).ports.handshake
    reader = await more.enter_async_context(connect_async(f"mqqp://127.0.0.1:{port}/nothing"))
    waiting = asyncio.create_task(reader.queue().receive(timeout=None))

    async def stop_waiting() -> None:
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)

    more.push_async_callback(stop_waiting)
    mqqp = harness.server.opened.machine(Mqqp).state
    await until(lambda: far.waiting == 0 and any(each.pending for each in associations(mqqp)))


@pytest.mark.timeout(600)
@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_pages_with_records_can_be_used_by_everyone_and_fit_a_phone(theme: Theme, tmp_path: Path) -> None:
    async def look(page: Page, name: str) -> None:
        await page.set_viewport_size(WIDE)  # type: ignore[arg-type]
        found = await Axe().run(page)
        assert found.violations_count == 0, f"{name}: {found.generate_report()}"
        await picture(page, name)
        await page.set_viewport_size(PHONE)  # type: ignore[arg-type]
        width = await page.evaluate("document.documentElement.scrollWidth")
        assert width <= PHONE["width"], f"{name} is {width} wide"
        await picture(page, f"{name}-phone")

    async def scene(harness: Harness, page: Page) -> None:
        async with AsyncExitStack() as more:
            await exchange(harness, tmp_path / "far", more)
            await page.emulate_media(color_scheme=theme)
            for plural in LISTS:
                await page.goto(f"/console/records/{plural}")
                await look(page, f"list-{plural}-{theme}")
                if plural == "writers":
                    continue
                await page.locator("tbody th a").first.click()
                await page.locator("dl.facts").wait_for()
                await look(page, f"record-{plural}-{theme}")

    browse(tmp_path / "here", scene, tables=TABLES, seconds=500)
