"""Tests of the counters of WS-RM on a whole server."""

from __future__ import annotations

from pathlib import Path

from reliquary.protocols.wsrm.effects import Post
from reliquary.protocols.wsrm.machine import Wsrm
from reliquary.protocols.wsrm.state import Count
from reliquary.server.wsrm import WsrmEndpoint
from reliquary.server.wsrm_options import WsrmOptions
from tests.console.harness import Harness, play
from tests.net.http.harness import until
from tests.server.endpoints import endpoint_of, switched_off

OF_THE_MACHINE = ["wsrm_events_total", "wsrm_sequences", "wsrm_unacknowledged", "wsrm_held"]


def test_requests_and_posts_are_counted_by_how_they_ended(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.data.request("PUT", "/wsrm/orders", b"")
        endpoint = endpoint_of(harness.server, WsrmEndpoint)
        endpoint.courier.post(Post(1, 0, 1, f"{harness.url}/nothing", "text/xml", "", b""))
        endpoint.courier.post(Post(2, 0, 1, "ftp://nowhere", "text/xml", "", b""))
        await until(lambda: endpoint.courier.answers and endpoint.courier.failures)
        families = {each.name: each.samples for each in endpoint.counters()}
        assert list(families) == [
            "wsrm_received_total",
            "wsrm_answers_total",
            "wsrm_posts_total",
            "wsrm_failures_total",
            "wsrm_connections",
            "wsrm_waiting",
            *OF_THE_MACHINE,
        ]
        assert families["wsrm_received_total"] == [
            ({"status": "200"}, 0),
            ({"status": "202"}, 0),
            ({"status": "405"}, 1),
        ]
        assert ({"status": "404"}, 1) in families["wsrm_answers_total"]
        assert ({"reason": "no-address"}, 1) in families["wsrm_failures_total"]
        assert families["wsrm_posts_total"] == [({}, 2)]
        assert families["wsrm_connections"] == [({}, 1)]

    play(tmp_path, scene)


def test_the_machine_counts_where_the_endpoint_is_switched_off(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        harness.server.opened.machine(Wsrm).state.counts[Count.DUPLICATES] += 3
        families = {each.name: each.samples for each in switched_off(harness.server, "wsrm").counters()}
        assert list(families) == OF_THE_MACHINE
        assert ({"kind": "duplicates"}, 3) in families["wsrm_events_total"]
        assert len(families["wsrm_events_total"]) == len(Count)
        states = [(labels["direction"], labels["state"]) for labels, _ in families["wsrm_sequences"]]
        assert states == [
            ("in", "open"),
            ("in", "closed"),
            ("in", "ended"),
            ("out", "creating"),
            ("out", "open"),
            ("out", "closing"),
            ("out", "terminating"),
        ]
        assert b"reliquary_wsrm_held 0" in (await harness.get("/metrics")).body

    play(tmp_path, scene, tables=(WsrmOptions(enabled=False),))
