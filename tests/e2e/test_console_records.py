"""Tests pages of streams, channels, sequences, associations, sessions, transactions and writers, with
records.

Two managers exchange messages by every protocol; then each list and one of its records is looked at in a
real browser, in light and dark, wide and on a phone.
"""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from playwright.async_api import Page

from tests.console.harness import Harness
from tests.console.web.exchange import LISTS, TABLES, exchange
from tests.e2e.test_console import Theme, browse, look

pytestmark = pytest.mark.needs("chromium")


@pytest.mark.timeout(600)
@pytest.mark.parametrize("theme", ["light", pytest.param("dark", marks=pytest.mark.long)])
def test_pages_with_records_can_be_used_by_everyone_and_fit_a_phone(theme: Theme, tmp_path: Path) -> None:
    async def scene(harness: Harness, page: Page) -> None:
        async with AsyncExitStack() as more:
            await exchange(harness, tmp_path / "far", more)
            await page.emulate_media(color_scheme=theme)
            for plural in LISTS:
                await page.goto(f"/console/records/{plural}")
                await look(page, f"list-{plural}-{theme}")
                await page.locator("tbody th a").first.click()
                await page.locator("dl.facts").wait_for()
                await look(page, f"record-{plural}-{theme}")

    browse(tmp_path / "here", scene, tables=TABLES, seconds=500)
