"""Tests of the counters of HTTPR on a whole server."""

from __future__ import annotations

from pathlib import Path

from reliquary.server.httpr import HttprEndpoint
from reliquary.server.httpr_options import HttprOptions
from tests.console.harness import Harness, play
from tests.server.endpoints import endpoint_of, switched_off

MACHINE = ["httpr_channels", "httpr_unanswered", "httpr_batches_in_doubt", "httpr_messages_in_doubt"]


def test_requests_are_counted_by_command_and_error(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.data.request("POST", "/httpr/mq", b"this is no HTTPR")
        families = {each.name: each for each in endpoint_of(harness.server, HttprEndpoint).counters()}
        assert list(families) == [
            "httpr_received_total",
            "httpr_requests_total",
            "httpr_answers_total",
            "httpr_failures_total",
            "httpr_messages_total",
            "httpr_connections",
            *MACHINE,
        ]
        assert ({"command": "unreadable"}, 1) in families["httpr_received_total"].samples
        assert ({"role": "server", "error": "519"}, 1) in families["httpr_answers_total"].samples

    play(tmp_path, scene)


def test_channels_are_counted_where_the_endpoint_is_switched_off(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        families = switched_off(harness.server, "httpr").counters()
        assert [family.name for family in families] == MACHINE

    play(tmp_path, scene, tables=(HttprOptions(enabled=False),))
