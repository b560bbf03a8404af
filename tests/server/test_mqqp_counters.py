"""Tests of the counters of MQQP on a whole server."""

from __future__ import annotations

from pathlib import Path

from reliquary.protocols.mqqp.codec.qm2qm import GetVersion
from reliquary.protocols.mqqp.effects import CallServer
from reliquary.protocols.mqqp.settings import MqqpSettings, ServerSettings
from reliquary.server.mqqp import MqqpEndpoint
from reliquary.server.mqqp_options import MqqpOptions
from tests.console.harness import Harness, play
from tests.net.http.harness import until
from tests.server.endpoints import endpoint_of, switched_off

OF_THE_MACHINE = ["mqqp_associations", "mqqp_queues", "mqqp_pending", "mqqp_held"]
NOWHERE = ServerSettings(name="nowhere", host="127.0.0.1", port=1)
ON = MqqpOptions(enabled=True, handshake_port=0, read_port=0, protocol=MqqpSettings(servers=(NOWHERE,)))


def test_calls_are_counted_by_method_and_lost_links_by_reason(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        endpoint = endpoint_of(harness.server, MqqpEndpoint)
        endpoint.courier.call(CallServer(1, 1, "nowhere", 1, GetVersion()))
        await until(endpoint.courier.failures.total)
        endpoint.serving.calls["StartReceive"] += 2
        endpoint.serving.faults[0x6F7] += 1
        families = {each.name: each.samples for each in endpoint.counters()}
        assert list(families) == [
            "mqqp_calls_total",
            "mqqp_faults_total",
            "mqqp_connections",
            "mqqp_calls_made_total",
            "mqqp_failures_total",
            *OF_THE_MACHINE,
        ]
        assert families["mqqp_calls_total"] == [({"method": "StartReceive"}, 2)]
        assert families["mqqp_faults_total"] == [({"status": "0x000006f7"}, 1)]
        assert families["mqqp_calls_made_total"] == [({"method": "GetVersion"}, 1)]
        assert ({"reason": "no-connection"}, 1) in families["mqqp_failures_total"]

    play(tmp_path, scene, tables=(ON,))


def test_the_machine_counts_where_the_endpoint_is_switched_off(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        families = {each.name: each.samples for each in switched_off(harness.server, "mqqp").counters()}
        assert list(families) == OF_THE_MACHINE
        for samples in families.values():
            assert samples == [({"direction": "in"}, 0), ({"direction": "out"}, 0)]

    play(tmp_path, scene)
