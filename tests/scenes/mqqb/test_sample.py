"""Scene T-09 of MQQB: the published conversation of section 4, played to this manager in both roles."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.time import SECOND, Instant
from reliquary.protocols.mqqb.state import Identity
from reliquary.queueing.model.message import Delivery
from reliquary.wire.packet.internal import EstablishConnection
from tests.protocols.mqqb.codec.frames import SAMPLE
from tests.protocols.mqqb.mqqb_harness import MqqbBench, waiting

CLIENT = UUID(bytes_le=SAMPLE["frame 3"][20:36])
SERVER = UUID(bytes_le=SAMPLE["frame 3"][36:52])
SENT = Instant(0x524F494C * SECOND)
"""The damaged SentTime of frame 7."""
QUEUE = "DIRECT=OS:a04bm02\\q"


def known_as(guid: UUID) -> MqqbBench:
    """Return a bench whose manager has this GUID, at the time of the sample."""
    bench = MqqbBench(".\\q")
    bench.mqqb.identity = Identity(guid, guid, "BENCH")
    bench.now = SENT
    return bench


def message() -> bytes:
    """Frame 7, completed to its 2,224 bytes if the printed dump breaks off."""
    printed = SAMPLE["frame 7"]
    body = b"a\0" * 1000
    return printed if len(printed) == 2224 else printed[:0xDE] + body + bytes(2)


@pytest.mark.mqqb("T-09", "T-07")
@pytest.mark.spec("QB-006", "QB-007", "QB-184", "QB-185", "QB-193", "QB-263")
def test_the_sample_opens_a_session_with_our_acceptor_and_its_message_is_stored() -> None:
    bench = known_as(SERVER)
    peer = bench.accept()
    peer.send(SAMPLE["frame 3"])
    (answer,) = peer.got
    assert isinstance(answer, EstablishConnection)
    assert (answer.client, answer.server, answer.refused) == (CLIENT, SERVER, False)
    peer.send(SAMPLE["frame 5"])
    assert peer.got[-1].encode()[16:] == SAMPLE["frame 6"][16:]
    peer.send(message())
    (body,) = bench.bodies(".\\q")
    assert body == b"a\0" * 1000
    bench.advance(61)  # half of its AckTimeout of two minutes
    assert peer.got[-1].encode()[2:] == SAMPLE["frame 8"][2:]


@pytest.mark.mqqb("T-09", "T-08")
@pytest.mark.spec("QB-187", "QB-200")
def test_the_sample_mirrored_to_our_initiator_delivers_a_message() -> None:
    bench = known_as(CLIENT)
    bench.send(QUEUE, b"a", delivery=Delivery.EXPRESS)
    peer = bench.answer_dial()
    printed = SAMPLE["frame 4"]
    repaired = printed[:20] + CLIENT.bytes_le + SERVER.bytes_le + printed[52:]
    peer.send(repaired)
    assert not peer.is_closed
    peer.send(SAMPLE["frame 6"])
    assert peer.bodies == [b"a"]
    peer.send(SAMPLE["frame 8"])
    assert waiting(bench, QUEUE) == 0
    assert not peer.is_closed


@pytest.mark.mqqb("T-09")
@pytest.mark.spec("QB-187")
def test_our_initiator_closes_at_the_printed_response_because_it_is_for_another_client() -> None:
    bench = known_as(CLIENT)
    bench.send(QUEUE, b"a", delivery=Delivery.EXPRESS)
    peer = bench.answer_dial()
    peer.send(SAMPLE["frame 4"])
    assert peer.hung_up
    assert waiting(bench, QUEUE) == 1
