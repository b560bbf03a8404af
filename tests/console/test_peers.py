"""Other managers that are asked for the events of a message."""

from __future__ import annotations

import socket
from pathlib import Path

from reliquary.base.time import seconds
from reliquary.console import peers
from reliquary.server.peer_entries import PeerEntry
from tests.console.harness import Harness, play, whole
from tests.console.test_trace import USERS, first_id, path_of


def test_a_peer_that_refuses_or_talks_nonsense_is_shown_with_the_reason(tmp_path: Path) -> None:
    async def at_depot(depot: Harness) -> None:
        entries = (
            PeerEntry(name="wrong token", control=depot.control_url, token="guessed"),
            PeerEntry(name="data plane", control=depot.url),
            PeerEntry(name="right", control=depot.control_url, token="looker-token"),
        )

        async def at_shop(shop: Harness) -> None:
            await shop.send("orders", "a")
            trace = await shop.ok("GET", path_of(await first_id(shop)))
            why = {each["name"]: each.get("why", "") for each in trace["managers"]}
            assert why["wrong token"].startswith("it refuses: ")
            assert why["data plane"] == "it is of a release that cannot be asked for events"
            assert why["right"] == why["HERE"] == ""

        await whole(tmp_path / "shop", at_shop, peers=entries)

    play(tmp_path / "depot", at_depot, users=USERS)


def test_a_peer_that_is_slow_is_waited_for_as_long_as_its_time_is(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        harness.server.reloader.peers.all = [peers.Peer("slow", f"http://127.0.0.1:{port}")]
        await harness.send("orders", "a")
        trace = await harness.ok("GET", path_of(await first_id(harness)))
        assert "does not answer" in trace["managers"][1]["why"]

    patience, peers.PATIENCE = peers.PATIENCE, seconds(0.1)  # type: ignore[misc]
    try:
        with socket.create_server(("127.0.0.1", 0)) as never_accepts:
            port = never_accepts.getsockname()[1]
            play(tmp_path, scene)
    finally:
        peers.PATIENCE = patience  # type: ignore[misc]
