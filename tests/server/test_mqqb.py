"""Tests MQQB in a server: its port, the addresses that mean it, what it is while it is off, how it stops."""

from __future__ import annotations

from itertools import count
from pathlib import Path

import pytest

from reliquary.net.mqqb.pings import ask
from reliquary.net.tcp.descriptors import raise_limit
from reliquary.protocols.mqqb.machine import Mqqb
from reliquary.protocols.mqqb.protocol import mqqb
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.server.config import Settings
from reliquary.server.mqqb import MqqbEndpoint, MqqbSetup, addressed
from reliquary.server.mqqb_options import MqqbOptions
from tests.console.harness import Harness, play
from tests.net.http.harness import until
from tests.net.mqqb.test_pings import REQUEST as PING
from tests.server.endpoints import endpoint_of, switched_off
from tests.server.mqqb_peer import connect_peer, message_to, peer_of

ON = MqqbOptions(enabled=True, listen_port=0)


@pytest.mark.spec("QB-001", "QB-006", "QB-238", "QB-240")
@pytest.mark.mqqb("T-32", "T-51")
def test_a_message_of_a_plain_peer_is_there_once_and_a_second_one_is_dropped(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        endpoint = endpoint_of(harness.server, MqqbEndpoint)
        await harness.ok("POST", "/queues", {"name": "private$/in"})
        packet = message_to(r"OS:anything\private$\in", b"hello", recoverable=True)
        async with peer_of(endpoint.bound[1]) as peer:
            await peer.open()
            for count in (1, 2):
                peer.send(packet)
                ack = await peer.hear()
                assert ack is not None
                assert ack["AckSequenceNumber"] == count
                assert ack["RecoverableMsgAckSeqNumber"] == count
        assert (await harness.ok("GET", "/queues/private$/in"))["messages"] == 1

    play(tmp_path, scene, tables=(ON,))


def test_the_addresses_that_mean_the_server_are_those_it_listens_at_and_those_of_its_settings() -> None:
    options = MqqbOptions(enabled=True, addresses=("192.0.2.7",), names=("Queues.Example.com",))
    settings = Settings(folder=Path("unused"), computer_name="HERE", tables=(options,))
    here = addressed(settings, "127.0.0.2")
    assert here.addresses == {"127.0.0.2", "192.0.2.7"}
    assert {"here", "queues.example.com", "localhost"} <= here.names
    everywhere = addressed(settings, "0.0.0.0")
    assert {"127.0.0.1", "::1", "192.0.2.7"} <= everywhere.addresses
    assert "0.0.0.0" not in everywhere.addresses


def test_a_queue_has_a_name_for_senders_on_windows(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        endpoint = endpoint_of(harness.server, MqqbEndpoint)
        for name in ("orders", r"private$\orders"):
            assert list(endpoint.names_of(name)) == [r"DIRECT=TCP:127.0.0.1\private$\orders"]
        assert list(endpoint.names_of(r".\sales")) == [r"DIRECT=TCP:127.0.0.1\sales"]
        endpoint.bound = ("0.0.0.0", 1801)
        assert list(endpoint.names_of(r"private$\orders")) == [r"DIRECT=OS:HERE\private$\orders"]
        assert list(endpoint.own_addresses()) == ["127.0.0.1:0 (MQQB)"]

    play(tmp_path, scene, tables=(ON,))


@pytest.mark.spec("QB-088", "QB-090", "QB-312")
@pytest.mark.mqqb("T-29", "T-30")
def test_pings_are_answered_where_the_settings_want_it(tmp_path: Path) -> None:
    options = MqqbOptions(
        enabled=True, listen_port=0, protocol=MqqbSettings(answer_pings=True, ping_port=13527)
    )

    async def scene(_: Harness) -> None:
        assert await ask("127.0.0.1", 13527, PING)

    play(tmp_path, scene, tables=(options,))


def test_mqqb_is_off_by_default_and_then_nothing_is_listened_to(tmp_path: Path) -> None:
    setup = MqqbSetup(Settings(folder=tmp_path))
    assert not setup.anonymous_senders
    assert MqqbSetup(Settings(folder=tmp_path, tables=(ON,))).anonymous_senders

    async def scene(harness: Harness) -> None:
        assert list(switched_off(harness.server, "mqqb").counters())
        assert not harness.server.opened.machine(Mqqb).state.addressed

    play(tmp_path, scene)


def test_a_folder_has_its_tables_whether_it_is_on_or_off() -> None:
    assert mqqb().tables == mqqb(MqqbSettings()).tables


@pytest.mark.spec("QB-168")
@pytest.mark.mqqb("T-55")
def test_a_server_that_stops_sends_what_it_owes_and_closes_its_sessions(tmp_path: Path) -> None:
    heard: list[object] = []

    async def scene(harness: Harness) -> None:
        endpoint = endpoint_of(harness.server, MqqbEndpoint)
        peer = await connect_peer(endpoint.bound[1])
        await peer.open()
        peer.send(message_to(r"TCP:127.0.0.1\orders", b"express"))
        state = harness.server.opened.machine(Mqqb).state
        await until(lambda: any(each.unacked for each in state.sessions.values()))
        endpoint.stop_accepting()
        heard.append(await peer.hear())
        heard.append(await peer.hear())
        peer.close()

    play(tmp_path, scene, tables=(ON,))
    ack, end = heard
    assert isinstance(ack, dict)
    assert ack["AckSequenceNumber"] == 1
    assert end is None


@pytest.mark.mqqb("T-50")
@pytest.mark.spec("QB-012", "QB-213")
def test_packets_of_four_megabytes_travel_and_are_acknowledged_before_the_timer(tmp_path: Path) -> None:
    body = bytes(0x00400000 - 512)

    async def scene(harness: Harness) -> None:
        endpoint = endpoint_of(harness.server, MqqbEndpoint)
        await harness.ok("POST", "/queues", {"name": "private$/in"})
        async with peer_of(endpoint.bound[1]) as peer:
            await peer.open(ack_timeout=120_000)  # the timer would fire after a minute
            for number in range(1, 11):  # more than the server reads ahead
                peer.send(
                    message_to(r"TCP:127.0.0.1\private$\in", body, number=number, recoverable=number > 5)
                )
            acknowledged = 0
            while acknowledged < 10:
                ack = await peer.hear()
                assert ack is not None
                acknowledged = ack["AckSequenceNumber"]
        assert (await harness.ok("GET", "/queues/private$/in"))["messages"] == 10

    play(tmp_path, scene, seconds=100, tables=(ON,))


@pytest.mark.mqqb("T-97")
@pytest.mark.parametrize(
    "peers", [200, pytest.param(1_000, marks=[pytest.mark.long, pytest.mark.timeout(600)])]
)
def test_many_peers_with_messages_of_both_sizes_are_served_and_nothing_of_them_is_held(
    tmp_path: Path, peers: int
) -> None:
    raise_limit()  # both ends of each connection are in this process
    to, bodies = r"TCP:127.0.0.1\private$\in", (bytes(64 * 1024), bytes(1024))

    async def scene(harness: Harness) -> None:
        endpoint = endpoint_of(harness.server, MqqbEndpoint)
        await harness.ok("POST", "/queues", {"name": "private$/in"})
        connected = [await connect_peer(endpoint.bound[1]) for _ in range(peers)]
        numbers = count(1)
        for peer in connected:
            await peer.open()
            for body in bodies:
                peer.send(message_to(to, body, number=next(numbers), recoverable=True))
        for peer in connected:
            stored = 0
            while stored < len(bodies):
                ack = await peer.hear()
                assert ack is not None
                stored += ack["RecoverableMsgAckFlags"].bit_count()
        assert (await harness.ok("GET", "/queues/private$/in"))["messages"] == len(bodies) * peers
        assert (endpoint.network.connections, endpoint.network.buffered_bytes) == (peers, 0)
        for peer in connected:
            peer.close()
        await until(lambda: not endpoint.network.connections)

    play(tmp_path, scene, seconds=500, tables=(ON,))
