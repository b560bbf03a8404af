"""The files that pages load."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.console.web import assets
from tests.console.harness import Harness, play
from tools import pack_console


def test_our_files_and_those_of_htmx_are_there_with_their_kinds() -> None:
    found = assets.load()
    assert set(found) == {"console.css", "console.js", "htmx.min.js", "htmx-sse.min.js"}
    assert b"htmx" in found["htmx.min.js"].content
    assert found["console.css"].kind.startswith("text/css")
    assert found["console.js"].path.endswith("/console.js")


def test_without_the_package_of_htmx_our_own_files_remain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(assets, "find_spec", lambda _: None)
    assert set(assets.load()) == {"console.css", "console.js"}


def test_the_wheel_has_the_files_that_the_console_looks_for() -> None:
    assert pack_console.FOREIGN == assets.FOREIGN


def test_a_file_is_kept_for_ever_by_its_address_and_a_wrong_one_is_not_found(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for asset in assets.load().values():
            answer = await harness.get(asset.path)
            assert answer.body == asset.content
            assert b"immutable" in dict(answer.headers)[b"cache-control"]
        assert (await harness.get(f"{assets.PREFIX}0/other.js")).status == 404

    play(tmp_path, scene)
