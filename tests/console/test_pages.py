"""Metrics, and lists that come in pages."""

from __future__ import annotations

import re
from pathlib import Path
from urllib.parse import quote

import pytest

from reliquary.client.connect import connect_async
from reliquary.console import metrics
from reliquary.net.multicast.carrier import Count as Multicast
from reliquary.queueing.feed.events import OpenConsumer, SetConsumer
from reliquary.queueing.model.keep import Keep
from reliquary.queueing.model.travel.link import OutgoingState
from reliquary.server.srmp import SrmpEndpoint
from reliquary.server.srmp_options import SrmpOptions
from reliquary.views import pages
from tests.console.harness import Harness, play
from tests.server.endpoints import endpoint_of


def samples(text: str) -> dict[str, float]:
    """Return what a reader of the Prometheus format finds; every line must be one."""
    found = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            match = re.fullmatch(r"([a-z_]+(?:\{.*\})?) (\S+)", line)
            assert match, line
            found[match[1]] = float(match[2])
    return found


def test_metrics_count_what_happened(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        before = samples((await harness.get("/metrics")).body.decode())
        await harness.send("orders", "a", "b")
        answer = await harness.get("/metrics")
        assert dict(answer.headers)[b"content-type"] == b"text/plain; version=0.0.4; charset=utf-8"
        after = samples(answer.body.decode())
        assert after['reliquary_queue_messages{queue="orders"}'] == 2
        assert after['reliquary_queue_bytes{queue="orders"}'] == 2 * 223
        assert after['reliquary_transactions{state="active"}'] == 0
        assert after["reliquary_turns_total"] > before["reliquary_turns_total"]
        assert after["reliquary_syncs_total"] == before["reliquary_syncs_total"] + 1
        assert after["reliquary_connections"] == 1
        assert after["reliquary_messages"] == 2

    play(tmp_path, scene)


def test_a_copy_that_was_lost_shows_in_metrics_and_views(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.ok("POST", "/queues", {"name": "kept", "journaling": True, "journal_quota": 0})
        await harness.send("kept", "a", "b")
        await harness.data.request("POST", "/api/v1/queues/kept/receive", b'{"count": 2}')
        found = samples((await harness.get("/metrics")).body.decode())
        assert found['reliquary_copies_lost_total{copy="journal"}'] == 2
        assert found['reliquary_copies_lost_total{copy="dead-letter"}'] == 0
        assert found['reliquary_queue_copies_lost_total{queue="kept",copy="journal"}'] == 2
        assert found['reliquary_queue_copies_lost_total{queue="orders",copy="report"}'] == 0
        assert (await harness.ok("GET", "/queues/kept"))["copies_lost"] == {"journal": 2}
        assert (await harness.ok("GET", "/manager"))["copies_lost"] == {"journal": 2}

    play(tmp_path, scene)


def test_readers_of_feeds_show_with_what_is_kept_for_them(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        found = samples((await harness.get("/metrics")).body.decode())
        assert found['reliquary_queue_messages_retained{queue="orders"}'] == 0
        assert not any(name.startswith("reliquary_consumer") for name in found)
        ask = harness.server.opened.engine.ask
        await ask(lambda to: OpenConsumer(to, "orders", "lake"))
        await harness.send("orders", "a", "b", "c")
        await harness.data.request("POST", "/api/v1/queues/orders/receive", b'{"count": 2}')
        found = samples((await harness.get("/metrics")).body.decode())
        assert found['reliquary_queue_messages_retained{queue="orders"}'] == 2
        assert found['reliquary_queue_bytes_retained{queue="orders"}'] == 2 * 223
        assert found['reliquary_queue_messages{queue="orders"}'] == 1
        assert found['reliquary_consumer_lag{queue="orders",consumer="lake"}'] >= 3
        assert found['reliquary_consumer_lost_total{queue="orders",consumer="lake"}'] == 0
        assert found['reliquary_consumer_paused{queue="orders",consumer="lake"}'] == 0
        shown = await harness.ok("GET", "/queues/orders")
        assert (shown["messages_retained"], shown["bytes_retained"]) == (2, 2 * 223)
        await ask(lambda to: SetConsumer(to, "orders", "lake", Keep(count=1)))
        await harness.data.request("POST", "/api/v1/queues/orders/receive", b'{"count": 1}')
        found = samples((await harness.get("/metrics")).body.decode())
        assert found['reliquary_consumer_lost_total{queue="orders",consumer="lake"}'] == 2
        assert found['reliquary_queue_messages_retained{queue="orders"}'] == 1

    play(tmp_path, scene)


def test_posts_of_srmp_are_counted_by_their_answers(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.data.request("GET", "/msmq/private$/orders")
        found = samples((await harness.get("/metrics")).body.decode())
        assert found['reliquary_srmp_received_total{status="405"}'] == 1
        assert found['reliquary_srmp_received_total{status="200"}'] == 0
        assert found["reliquary_srmp_posts_total"] == found["reliquary_srmp_connections"] == 0
        assert found['reliquary_srmp_failures_total{reason="timed-out"}'] == 0
        assert not any(name.startswith("reliquary_stream_") for name in found)

        assert found['reliquary_srmp_messages_total{kind="receipts-lost"}'] == 0
        assert found['reliquary_multicast_total{kind="packets-lost"}'] == 0
        carrier = endpoint_of(harness.server, SrmpEndpoint).carrier
        assert carrier is not None
        carrier.counts[Multicast.PACKETS_REPAIRED] += 3
        found = samples((await harness.get("/metrics")).body.decode())
        assert found['reliquary_multicast_total{kind="packets-repaired"}'] == 3

    async def switched_off(harness: Harness) -> None:
        assert b"reliquary_srmp_posts" not in (await harness.get("/metrics")).body
        assert b"reliquary_multicast" not in (await harness.get("/metrics")).body

    play(tmp_path, scene)
    play(tmp_path, switched_off, tables=(SrmpOptions(enabled=False),))


def test_outgoing_queues_have_metrics_of_their_own(tmp_path: Path) -> None:
    names = {
        "elsewhere": r"DIRECT=OS:elsewhere\\private$\\orders",
        "looped": r"DIRECT=OS:loopback\\private$\\orders",
    }

    async def scene(harness: Harness) -> None:
        assert b"reliquary_outgoing" not in (await harness.get("/metrics")).body
        for name in names.values():
            await harness.send(quote(name.replace("\\\\", "\\"), safe=""), "a")
        await harness.ok("GET", "/outgoing")
        text = (await harness.get("/metrics")).body.decode()
        found = samples(text)

        def of(metric: str, name: str) -> float:
            return found[f'reliquary_outgoing_{metric}{{destination="{names[name]}"}}']

        for metric, elsewhere, looped in (
            ("messages", 1, 0),
            ("delivered_total", 0, 1),
            ("refused_total", 0, 0),
            ("failures", 0, 0),
        ):
            assert (of(metric, "elsewhere"), of(metric, "looped")) == (elsewhere, looped), metric
        assert of("bytes", "elsewhere") > of("bytes", "looped") == 0
        states = {key: value for key, value in found.items() if key.startswith("reliquary_outgoing_state")}
        assert [key.rpartition('state="')[2] for key, value in states.items() if value] == [
            'waiting"}',
            'connected"}',
        ]
        assert len(states) == 2 * len(OutgoingState)
        assert not [key for key in found if key.startswith("reliquary_queue_") and "DIRECT" in key]
        assert "DIRECT" not in (await harness.get("/")).body.decode()

    play(tmp_path, scene)


def test_many_queues_come_in_pages_of_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGE", 3)
    monkeypatch.setattr(metrics, "SAMPLES", 2)

    async def scene(harness: Harness) -> None:
        names = ["a", "B", "c", "orders", "p&q", "z"]
        for name in names:
            if name != "orders":
                await harness.ok("POST", "/queues", {"name": name})
        everything = await harness.ok("GET", "/queues?limit=1000")
        assert "next" not in everything
        listed = [each["name"] for each in everything["queues"]]
        assert [name for name in listed if name in names] == names
        async with connect_async(harness.url, control=harness.control_url) as manager:
            assert [each.name for each in await manager.queues()] == listed

        first = await harness.ok("GET", "/queues")
        assert [each["name"] for each in first["queues"]] == listed[:3]
        await harness.ok("DELETE", "/queues/B")
        second = await harness.ok("GET", f"/queues?limit=2&after={quote(first['next'], safe='')}")
        assert [each["name"] for each in second["queues"]] == listed[3:5]

        rest = [name for name in listed if name != "B"]
        text = (await harness.get("/metrics")).body.decode()
        assert len(re.findall(r"^reliquary_queue_messages\{", text, re.MULTILINE)) == len(rest)

    play(tmp_path, scene)


@pytest.mark.parametrize("query", ["limit=0", "limit=x", "limit=10001"])
def test_a_malformed_page_is_refused_on_both_planes(tmp_path: Path, query: str) -> None:
    async def scene(harness: Harness) -> None:
        for path in ("/queues", "/channels", "/directory/site"):
            assert (await harness.refused("GET", f"{path}?{query}"))[:2] == (400, "INVALID_PARAMETER")
        answer = await harness.data.request("GET", f"/api/v1/transactions?{query}")
        assert answer.status == 400

    play(tmp_path, scene)
