"""Scenes T-32 and T-50 of MQQB: packets of megabytes, of which few are under way at a time."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.queueing.model.message import Delivery
from tests.protocols.mqqb.mqqb_harness import MqqbBench
from tests.protocols.mqqb.pair import RIGHT, Pair

LARGEST_BODY = 0x00400000 - 512
"""The bytes of a body that fits into a packet with all its headers."""


@pytest.mark.mqqb("T-50")
@pytest.mark.spec("QB-012")
def test_the_largest_packets_of_each_kind_travel_without_a_pause() -> None:
    pair = Pair()
    pair.right.create("ledger", transactional=True)
    body = bytes(LARGEST_BODY)
    plain, ledger = (f"DIRECT=TCP:{RIGHT}\\private$\\{queue}" for queue in ("orders", "ledger"))
    for delivery in (Delivery.EXPRESS, Delivery.RECOVERABLE):
        for _ in range(3):  # more than may be under way
            assert pair.left.send(plain, body, delivery=delivery).status == 0
    pair.left.transact(ledger, body)
    pair.run()
    assert list(map(len, pair.right.bodies("orders"))) == [len(body)] * 6
    assert list(map(len, pair.right.bodies("ledger"))) == [len(body)]
    assert pair.left.bodies("system$;deadxact") == []


@pytest.mark.mqqb("T-32", "T-50")
@pytest.mark.parametrize("express", [True, False])
def test_large_messages_are_acknowledged_before_their_sender_must_stop(express: bool) -> None:
    bench = MqqbBench(settings=MqqbSettings(most_bytes=16_000))
    peer = bench.accepted()
    for number in range(1, 11):
        peer.user(bytes(2_000), express=express)
        assert len(peer.acks) == number // 2
    assert [each.ack for each in peer.acks] == [2, 4, 6, 8, 10]
    peer.send(*(peer.made(bytes(2_000), express=express) for _ in range(10)))  # they are handed over in a run
    assert peer.acks[-1].ack == 20
