"""Tests the site: links of pages lead to pages, pictures and copies of files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tools import site_hooks

ROOT = Path(__file__).parents[2]


def test_a_link_to_a_source_file_leads_to_its_copy() -> None:
    text = "[a](../../src/reliquary/base/turn.py) [b](queues.md#later) [c](#here) [d](../../src)"
    assert site_hooks.moved(text, "guides/srmp.md") == (
        "[a](../files/src/reliquary/base/turn.py.txt) [b](queues.md#later) [c](#here) d"
    )


def test_a_page_from_outside_docs_keeps_its_links() -> None:
    text = "[a](docs/guides/srmp.md) [b](CONTRIBUTING.md) ![c](docs/drawings/rooms.svg) [d](README.md)"
    assert site_hooks.moved(text, "project/architecture.md") == (
        "[a](../guides/srmp.md) [b](contributing.md) ![c](../drawings/rooms.svg) [d](../index.md)"
    )


@pytest.mark.long
def test_the_site_is_built_without_a_warning_and_loads_nothing_from_elsewhere(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "site" / "index.html").read_text()
    assert 'src="http' not in page
    assert 'rel="stylesheet" href="http' not in page
