"""Tests the latest events of a manager, from files and from the store."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.console import latest_events
from reliquary.console.latest_events import read_latest_events
from reliquary.console.message_lines import find_identifier
from reliquary.server.history_options import HistoryOptions
from tests.console.harness import Harness, play
from tests.console.test_trace import first_id


def test_the_latest_events_come_from_files_and_from_the_store_each_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(harness: Harness) -> None:
        opened = harness.server.opened
        assert await read_latest_events(opened) == []
        await harness.send("orders", "a")
        identifier = await first_id(harness)
        await harness.ok("POST", "/history/export", {})
        in_files = await read_latest_events(opened)
        await harness.data.request("POST", "/api/v1/queues/orders/receive")
        found = await read_latest_events(opened)
        assert found[1:] == in_files
        assert [(each.identifier, each.line.event) for each in found] == [
            (identifier, "received"),
            (identifier, "accepted"),
        ]
        monkeypatch.setattr(latest_events, "MOST", 1)
        newest = [found[0]._replace(identifier="")]
        assert await read_latest_events(opened) == newest, "no event that was read names the identifier"
        await harness.ok("POST", "/history/export", {})
        assert await read_latest_events(opened) == newest
        assert await find_identifier(opened, found[0].number or 0) == identifier
        assert await find_identifier(opened, 10**9) == ""

    play(tmp_path, scene, history=HistoryOptions(every=3600))


def test_only_the_newest_rows_of_the_store_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        await harness.data.request("POST", "/api/v1/queues/orders/receive")
        monkeypatch.setattr(latest_events, "ROWS", 1)
        [event] = await read_latest_events(harness.server.opened)
        assert event.line.event == "received"

    play(tmp_path, scene, history=HistoryOptions(every=3600))


def test_a_manager_without_a_history_has_no_events(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        assert await read_latest_events(harness.server.opened) == []

    play(tmp_path, scene, history=HistoryOptions(enabled=False))
