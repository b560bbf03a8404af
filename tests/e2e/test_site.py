"""Tests the documentation as a site: its search works in pages that are opened as files, without a server."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.async_api import async_playwright

from tests.e2e.test_console import CHROMIUM, FLAGS

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.needs("chromium")


@pytest.mark.long
def test_pages_are_found_without_a_server_and_without_internet(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)]
    subprocess.run(build, cwd=ROOT, check=True)

    async def search() -> tuple[str, list[str]]:
        asked: list[str] = []
        async with async_playwright() as driver:
            browser = await driver.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
            page = await browser.new_page()
            page.on("request", lambda request: asked.append(request.url))
            await page.goto((tmp_path / "guides" / "srmp.html").as_uri())
            await page.locator("input[name=query]").click()
            await page.keyboard.type("acknowledgement")
            found = await page.locator(".md-search-result__link").first.get_attribute("href")
            await browser.close()
        return found or "", asked

    found, asked = asyncio.run(search())
    assert found.startswith(tmp_path.as_uri())
    assert all(each.startswith(("file:", "data:", "about:")) for each in asked), asked
