"""The events of one message at one manager; `test_story` shows that files and store are searched."""

from __future__ import annotations

from pathlib import Path

from reliquary.console import message_lines
from tests.console.harness import Harness, play
from tests.console.test_trace import first_id, path_of


def test_more_lines_than_are_shown_are_counted_as_partial(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        identifier = await first_id(harness)
        await harness.data.request("POST", "/api/v1/queues/orders/receive")
        trace = await harness.ok("GET", path_of(identifier))
        assert (len(trace["lines"]), trace["managers"][0]["is_partial"]) == (1, True)

    most, message_lines.MOST = message_lines.MOST, 1  # type: ignore[misc]
    try:
        play(tmp_path, scene)
    finally:
        message_lines.MOST = most  # type: ignore[misc]
