"""Tests clients that break the protocol, and scanners: each is closed or answered, and the server stays up.

The probes are those that public scanners send: a request for a session (zgrab2, nmap), the first frames of
the published sample, a message without a handshake that has headers of SRMP (checks for CVE-2023-21554), and
first bytes of other protocols, which nmap sends to any open port.
"""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

from reliquary.net.mqqb.shared import Count as Traffic
from reliquary.protocols.mqqb.machine import Mqqb
from reliquary.server.mqqb import MqqbEndpoint
from reliquary.server.mqqb_options import MqqbOptions
from tests.console.harness import Harness, play
from tests.net.http.harness import until
from tests.protocols.mqqb.codec import second_decoder
from tests.protocols.mqqb.codec.frames import COMPOSED, SAMPLE
from tests.server.endpoints import endpoint_of
from tests.server.mqqb_peer import PARAMETERS, REQUEST, connect_peer, message_to, peer_of
from tests.wire.packet.both_ways import changed

ON = MqqbOptions(enabled=True, listen_port=0)
MESSAGE = message_to(r"TCP:127.0.0.1\private$\orders", b"x")
AH = changed(MESSAGE, 63, to=b"\2")
ACK = COMPOSED["V5"]


def port_of(harness: Harness) -> int:
    return endpoint_of(harness.server, MqqbEndpoint).bound[1]


async def still_serves(harness: Harness) -> None:
    """Check that the server takes a message of a correct peer, and that its control plane answers."""
    await harness.ok("POST", "/queues", {"name": "private$/kept"})
    async with peer_of(port_of(harness)) as peer:
        await peer.open()
        peer.send(message_to(r"TCP:127.0.0.1\private$\kept", b"good", recoverable=True))
        ack = await peer.hear()
        assert ack is not None
        assert (ack["kind"], ack["AckSequenceNumber"], ack["RecoverableMsgAckFlags"]) == ("SessionAck", 1, 1)
    found = await harness.ok("GET", "/queues/private$/kept")
    assert found["messages"] == 1


BEFORE = {
    "a message without a handshake": MESSAGE,
    "a transactional message without a handshake": COMPOSED["V7"],
    "headers of SRMP without a handshake": AH,
    "headers of SRMP that end early": AH[:120],
    "an order acknowledgement without a handshake": COMPOSED["V9"],
    "a session acknowledgement first": ACK,
    "parameters first": PARAMETERS,
    "HTTP": b"GET / HTTP/1.1\r\nHost: victim\r\nUser-Agent: scanner\r\n\r\n",
    "TLS": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(506),
    "RDP": bytes.fromhex("03000013 0ee00000 00000001 00080003 000000"),
    "SMB 1": bytes.fromhex("00000054 ff534d42 72000000 00180128") + bytes(72),
    "SMB 2": bytes.fromhex("00000068 fe534d42 40000100") + bytes(96),
    "SSH": b"SSH-2.0-scanner\r\n",
    "MQTT": b"\x10\x0c\0\4MQTT\4\2\0\x3c\0\0",
    "DCE/RPC": bytes.fromhex("05000b03 10000000 48000000 01000000") + bytes(56),
    "empty lines": b"\r\n\r\n",
    "one byte": b"\0",
    "zeros": bytes(4096),
    "an unknown packet type": changed(REQUEST, 18, to=b"\7"),
    "a request of 571 bytes": changed(REQUEST, 8, to=b"\x3b"),
    "a size beyond the limit": changed(MESSAGE, 8, to=b"\1\0\x40\0"),
    "another version": changed(REQUEST, 0, to=b"\x11"),
}


@pytest.mark.spec("QB-199", "QB-223", "QB-232", "QB-236", "QB-191", "QB-029", "QB-030")
@pytest.mark.mqqb("T-12", "T-18", "T-96")
def test_what_is_sent_before_the_handshake_is_closed_without_an_answer(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for name, data in BEFORE.items():
            async with peer_of(port_of(harness)) as peer:
                peer.send(data)
                if name == "headers of SRMP that end early":
                    peer.send(bytes(1000))
                assert await peer.is_closed(), name
        assert (await harness.ok("GET", "/queues/orders"))["messages"] == 0
        await still_serves(harness)

    play(tmp_path, scene, tables=(ON,))


INSIDE = {
    "a second request": REQUEST,
    "parameters again": PARAMETERS,
    "headers of SRMP": AH,
    "a destination of an unknown kind": changed(MESSAGE, 60, to=(0x00200400).to_bytes(4, "little")),
    "a delivery of an unknown kind": changed(MESSAGE, 60, to=(0x00201C40).to_bytes(4, "little")),
    "thirty hops": changed(MESSAGE, 60, to=(0x00201C1E).to_bytes(4, "little")),
    "tracing without a queue for it": changed(MESSAGE, 2, to=b"\3\1"),
    "a label that is longer than the packet": changed(MESSAGE, 129, to=b"\xf0"),
    "a body that is longer than the packet": changed(MESSAGE, 160, to=b"\xff\xff\xff\x7f"),
    "an acknowledgement of what was never sent": ACK,
    "noise": b"\x10\0\3\0LIOR" + (200).to_bytes(4, "little") + Random(5).randbytes(188),
}


@pytest.mark.spec("QB-015", "QB-016", "QB-022", "QB-029", "QB-030", "QB-181", "QB-191")
@pytest.mark.mqqb("T-11", "T-12", "T-18")
def test_what_is_wrong_in_an_open_session_closes_it(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for name, data in INSIDE.items():
            async with peer_of(port_of(harness)) as peer:
                await peer.open()
                peer.send(data)
                assert await peer.is_closed(), name
        assert (await harness.ok("GET", "/queues/orders"))["messages"] == 0
        state = harness.server.opened.machine(Mqqb).state
        await until(lambda: not state.sessions)
        await still_serves(harness)

    play(tmp_path, scene, tables=(ON,))


@pytest.mark.spec("QB-045", "QB-046", "QB-050", "QB-057", "QB-184", "QB-185")
@pytest.mark.mqqb("T-16", "T-23", "T-96")
@pytest.mark.parametrize(
    "system",
    [
        pytest.param("1003", id="the sample"),
        pytest.param("8010", id="zgrab2"),
        pytest.param("1080", id="the tests of zgrab2"),
        pytest.param("0000", id="nothing"),
        pytest.param("ffff", id="everything"),
    ],
)
def test_a_scanner_that_asks_for_a_session_recognises_a_queue_manager(tmp_path: Path, system: str) -> None:
    async def scene(harness: Harness) -> None:
        async with peer_of(port_of(harness)) as peer:
            asked = changed(REQUEST, 56, to=bytes.fromhex(system))
            peer.send(changed(asked, 60, to=bytes(512)))
            raw = await peer.raw()
            answer = second_decoder.packet(raw)
            assert not answer["CS"]
            assert answer["ServerGuid"] != "00000000-0000-0000-0000-000000000000"
            assert answer["ClientGuid"] == second_decoder.packet(REQUEST)["ClientGuid"]
            assert raw[56:58] == bytes.fromhex(system)
            assert raw.endswith(b"ZZZ")
            assert raw[60:] == b"\x5a" * 512
        await still_serves(harness)

    play(tmp_path, scene, tables=(ON,))


@pytest.mark.spec("QB-034", "QB-184")
@pytest.mark.mqqb("T-16")
def test_a_request_for_another_manager_is_refused_and_closed(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        for padding in (b"\x5a", b"\0"):
            async with peer_of(port_of(harness)) as peer:
                peer.send(changed(SAMPLE["frame 3"], 60, to=padding * 512))
                answer = await peer.hear()
                assert answer is not None
                assert answer["CS"]
                assert await peer.is_closed()
        await still_serves(harness)

    play(tmp_path, scene, tables=(ON,))


@pytest.mark.mqqb("T-19", "T-20")
def test_a_crowd_of_silent_connections_leaves_room_for_no_more_than_the_limit(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        endpoint = endpoint_of(harness.server, MqqbEndpoint)
        peers = [await connect_peer(port_of(harness)) for _ in range(8)]
        await until(lambda: endpoint.network.counts[Traffic.REFUSED] == 3)
        assert endpoint.network.connections <= 5 + 3
        for each in peers:
            each.close()
        await until(lambda: not endpoint.network.connections)
        await still_serves(harness)

    play(tmp_path, scene, tables=(MqqbOptions(enabled=True, listen_port=0, connections=5),))


def test_peers_of_other_networks_are_closed_without_an_answer(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        async with peer_of(port_of(harness)) as peer:
            peer.send(REQUEST)
            assert await peer.is_closed()
        assert not harness.server.opened.machine(Mqqb).state.sessions

    play(tmp_path, scene, tables=(MqqbOptions(enabled=True, listen_port=0, networks=("10.0.0.0/8",)),))


@pytest.mark.mqqb("T-96")
def test_a_server_goes_on_after_connections_with_damaged_packets(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        chance = Random(96)
        good = [REQUEST, PARAMETERS, MESSAGE, COMPOSED["V7"], COMPOSED["V9"], COMPOSED["V11"], ACK]
        for _ in range(60):
            async with peer_of(port_of(harness)) as peer:
                if chance.random() < 0.7:
                    await peer.open()
                data = bytearray(b"".join(chance.choices(good, k=3)))
                for _ in range(chance.randrange(6)):
                    data[chance.randrange(len(data))] = chance.randrange(256)
                peer.send(bytes(data[: chance.randrange(len(data)) + 1]))
        state = harness.server.opened.machine(Mqqb).state
        await until(lambda: not state.sessions)
        await still_serves(harness)

    play(tmp_path, scene, tables=(ON,))
