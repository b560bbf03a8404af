"""Tests of the counters of SRMP; tests/console/test_pages.py shows them as metrics."""

from __future__ import annotations

from pathlib import Path

from reliquary.net.counters import Section
from reliquary.net.multicast.options import MulticastOptions
from reliquary.server.srmp import SrmpEndpoint
from reliquary.server.srmp_options import SrmpOptions
from tests.console.harness import Harness, play
from tests.server.endpoints import endpoint_of, switched_off


def test_what_comes_and_goes_stands_before_what_the_machine_counts(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.data.request("GET", "/msmq/private$/orders")
        families = list(endpoint_of(harness.server, SrmpEndpoint).counters())
        assert [family.name for family in families if family.section is Section.TRAFFIC] == [
            "srmp_received_total",
            "srmp_posts_total",
            "srmp_answers_total",
            "srmp_failures_total",
            "srmp_connections",
        ]
        assert [family.name for family in families if family.section is Section.MACHINES] == [
            "srmp_messages_total",
            "multicast_total",
        ]
        assert ({"status": "405"}, 1) in families[0].samples

    play(tmp_path, scene)


def test_the_machine_counts_where_its_endpoint_is_switched_off(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        families = switched_off(harness.server, "srmp").counters()
        assert [family.name for family in families] == ["srmp_messages_total"]

    play(tmp_path, scene, tables=(SrmpOptions(enabled=False),))


def test_multicast_may_be_switched_off_alone(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        names = [family.name for family in endpoint_of(harness.server, SrmpEndpoint).counters()]
        assert "multicast_total" not in names
        assert "srmp_posts_total" in names

    play(tmp_path, scene, multicast=MulticastOptions(enabled=False))
