"""Tests the lines of one message: from files and from the store, each once."""

from __future__ import annotations

import json
import re
from base64 import b64decode
from pathlib import Path
from urllib.parse import quote

from reliquary.console import message_lines
from reliquary.server.history_options import HistoryOptions
from reliquary.server.peer_entries import PeerEntry
from tests.console.harness import Harness, play, whole
from tests.console.test_trace import sent_on
from tests.console.web.harness import Reader

UNKNOWN = "/console/history?message=00000000-0000-0000-0000-000000000001%5C7"


def test_lines_come_from_files_and_from_the_store(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        listed = await harness.data.request("GET", "/api/v1/queues/orders/messages")
        identifier = listed.body.partition(b'"id":"')[2].partition(b'"')[0].decode().replace("\\\\", "\\")
        await harness.ok("POST", "/history/export", {})
        await harness.data.request("POST", "/api/v1/queues/orders/receive")
        reader = Reader(harness)
        path = "/console/history?message=" + identifier.replace("\\", "%5C")
        page = await reader.read(path)
        assert page.text.index("accepted") < page.text.index("received")
        assert "from an application by the API" in page.text
        assert "protocol" in page.text
        assert "attempt" not in page.text, "no line has a value in this column"
        await harness.ok("POST", "/history/export", {})
        assert (await reader.read(path)).text.count("received") == page.text.count("received")
        assert "has no line for this message" in (await reader.read(UNKNOWN)).text
        assert "GUID" in (await reader.read("/console/history?message=x", 400)).text

    play(tmp_path, scene)


def test_a_server_without_a_history_says_so(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        page = await Reader(harness).read(UNKNOWN)
        assert page.text.count("keeps no history") == 2

    play(tmp_path, scene, history=HistoryOptions(enabled=False))


def test_where_too_much_waits_only_the_files_are_searched(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        page = await Reader(harness).read(UNKNOWN)
        assert "the last lines may be missing" in page.text

    most = message_lines.PENDING_MOST
    message_lines.PENDING_MOST = 0  # type: ignore[misc]
    try:
        play(tmp_path, scene)
    finally:
        message_lines.PENDING_MOST = most  # type: ignore[misc]


def test_a_page_shows_the_way_through_two_managers_and_which_manager_is_away(tmp_path: Path) -> None:
    async def at_depot(depot: Harness) -> None:
        entries = (
            PeerEntry(name="depot", control=depot.control_url),
            PeerEntry(name="nowhere", control="http://127.0.0.1:9"),
        )

        async def at_shop(shop: Harness) -> None:
            identifier = await sent_on(shop, None, depot.url)
            taken = await depot.data.request("POST", "/api/v1/queues/orders/receive", b'{"timeout": 10}')
            assert b"two lamps" in b64decode(json.loads(taken.body)["messages"][0]["body"])
            page = await Reader(shop).read(f"/console/history?message={quote(identifier)}")
            application = "an application by the API"
            way = [line for line in page.text.splitlines() if " from " in line]
            assert re.fullmatch(rf"HERE from {application}, in DIRECT=HTTP://.+ by SRMP", way[0])
            assert re.fullmatch(rf"DEPOT from 127.0.0.1 by SRMP, in orders, to {application}", way[1])
            managers = {row[1]: row[2] for row in page.rows[1:]}
            assert set(managers) == {"HERE", "DEPOT"}
            assert "nowhere gave no lines: it does not answer" in page.text
            assert "depot gave no lines" not in page.text

        await whole(tmp_path / "shop", at_shop, peers=entries)

    play(tmp_path / "depot", at_depot, computer_name="DEPOT")
