"""Tests the stream of server-sent events: one for each sample, until the server stops."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.console.harness import Harness, play


def test_a_client_gets_an_event_for_each_sample_and_for_the_end(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        host, port = harness.control_url.removeprefix("http://").split(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        writer.write(b"GET /api/v1/events HTTP/1.1\r\nHost: " + host.encode() + b"\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert b"content-type: text/event-stream" in head.lower()
        assert b"x-accel-buffering: no" in head.lower()  # a proxy passes each event on at once
        await reader.readuntil(b"follows\n\n")
        await harness.send("orders", "a")
        await harness.server.sampler.take()
        event = b""
        while b'"messages":1' not in event:
            event = await reader.readuntil(b"\n\n")
        data = json.loads(event.partition(b"data: ")[2])
        assert set(data) == {"moment", "messages", "bytes", "arrived", "left", "confirm"}
        await harness.server.sampler.stop()
        await reader.readuntil(b"\r\n0\r\n\r\n")
        writer.close()

    play(tmp_path, scene)
