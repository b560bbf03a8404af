"""Tests of the counters of MQQB on a whole server."""

from __future__ import annotations

from pathlib import Path

from reliquary.server.mqqb import MqqbEndpoint
from reliquary.server.mqqb_options import MqqbOptions
from tests.console.harness import Harness, play
from tests.protocols.mqqb.codec.frames import COMPOSED
from tests.server.endpoints import endpoint_of, switched_off
from tests.server.mqqb_peer import message_to, peer_of

REFUSED = COMPOSED["V7"].replace(bytes.fromhex("08000000 07000000"), bytes.fromhex("08000000 00000000"))
"""The first message of a stream, for a queue that does not exist."""
OF_THE_MACHINE = [
    "mqqb_messages_total",
    "mqqb_kept",
    "mqqb_sessions",
    "mqqb_open_sessions",
    "mqqb_window",
    "mqqb_unacknowledged",
    "mqqb_waiting",
]


def test_traffic_sessions_and_duplicates_are_counted(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        endpoint = endpoint_of(harness.server, MqqbEndpoint)
        await harness.ok("POST", "/queues", {"name": "private$/in"})
        async with peer_of(endpoint.bound[1]) as peer:
            await peer.open(window=16)
            for _ in range(2):
                peer.send(message_to(r"TCP:127.0.0.1\private$\in", b"hello", recoverable=True))
                await peer.hear()
            peer.send(REFUSED)
            await peer.hear()
            families = {each.name: each.samples for each in endpoint.counters()}
            assert list(families) == [
                "mqqb_traffic_total",
                "mqqb_connections",
                "mqqb_half_read_bytes",
                *OF_THE_MACHINE,
            ]
            traffic = {labels["kind"]: value for labels, value in families["mqqb_traffic_total"]}
            assert (traffic["accepted"], traffic["packets-in"], traffic["packets-out"]) == (1, 5, 5)
            messages = {labels["kind"]: value for labels, value in families["mqqb_messages_total"]}
            assert (messages["duplicates"], messages["retransmitted"]) == (1, 0)
            kept = {labels["kind"]: value for labels, value in families["mqqb_kept"]}
            assert kept == {"streams": 1, "senders": 1, "refusals": 1}
            assert families["mqqb_sessions"] == [({"direction": "in"}, 1), ({"direction": "out"}, 0)]
            assert families["mqqb_window"] == [({"direction": "in"}, 16), ({"direction": "out"}, 0)]
            page = (await harness.get("/metrics")).body.decode()
            assert 'reliquary_mqqb_messages_total{kind="duplicates"} 1' in page
            for direction, count in (("in", 1), ("out", 0)):
                labels = f'protocol="mqqb",direction="{direction}"'
                assert f"reliquary_protocol_messages_total{{{labels}}} {count}" in page
            assert 'protocol="loopback"' not in page

    play(tmp_path, scene, tables=(MqqbOptions(enabled=True, listen_port=0),))


def test_the_machine_counts_where_the_endpoint_is_switched_off(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        families = {each.name: each.samples for each in switched_off(harness.server, "mqqb").counters()}
        assert list(families) == OF_THE_MACHINE

    play(tmp_path, scene)
