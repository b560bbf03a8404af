"""Tests sources and receivers on a network that loses, repeats and reorders packets."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.base.time import MILLISECOND, SECOND, Duration
from reliquary.protocols.pgm.settings import PgmSettings
from reliquary.wire.pgm.packets import Data, PgmPacketType, Spm
from reliquary.wire.pgm.serial import MASK
from tests.protocols.pgm.pgm_network import Network, ReceiverNode, SourceNode

LIMITS = PgmSettings(rate=2_000_000, most_kept=2_000_000_000)


def check(receiver: ReceiverNode, source: SourceNode, *, begins: int | None = 0) -> None:
    """Check that all data since joining came in order and once, or that a loss was reported."""
    came = receiver.delivered[source.tsi]
    losses = [loss for loss in receiver.lost if loss.tsi == source.tsi]
    places = [int.from_bytes(apdu[:4], "big") for apdu in came]
    assert all(earlier < later for earlier, later in pairwise(places))
    assert came == [source.submitted[place] for place in places]
    if not losses:
        begin = begins if begins is not None else places[0] if places else len(source.submitted)
        assert came == source.submitted[begin:]


def apdu(place: int, size: int) -> bytes:
    return place.to_bytes(4, "big") + bytes(size)


@settings(max_examples=15)
@given(
    seed=st.integers(0, 1 << 30),
    loss=st.sampled_from([0.0, 0.05, 0.3, 0.5]),
    doubling=st.sampled_from([0.0, 0.2]),
    jitter=st.sampled_from([0, 5 * MILLISECOND, 200 * MILLISECOND]),
    sizes=st.lists(st.sampled_from([0, 100, 1_400, 1_500, 9_000, 60_000]), min_size=1, max_size=30),
    first=st.sampled_from([0, 1, MASK, MASK - 10, 1 << 31]),
)
@pytest.mark.spec("SR-006")
def test_everything_comes_in_order_and_once_or_a_loss_is_reported(
    seed: int, loss: float, doubling: float, jitter: int, sizes: list[int], first: int
) -> None:
    network = Network(seed, loss=loss, doubling=doubling, jitter=jitter, settings=LIMITS)
    receivers = [network.add_receiver() for _ in range(3)]
    sources = [network.add_source(first), network.add_source()]
    for place, size in enumerate(sizes):
        for source in sources:
            network.send(source, apdu(place, size))
        network.run(0.01)
    network.run(60)
    for receiver in receivers:
        for source in sources:
            check(receiver, source)
    if loss <= 0.3:
        assert not any(receiver.lost for receiver in receivers)


@settings(max_examples=15)
@given(seed=st.integers(0, 1 << 30), loss=st.sampled_from([0.0, 0.3]), wait=st.integers(11, 40))
def test_a_receiver_that_joins_late_gets_all_later_data(seed: int, loss: float, wait: int) -> None:
    network = Network(seed, loss=loss, jitter=5 * MILLISECOND, settings=LIMITS)
    source = network.add_source()
    early = network.add_receiver()
    late = None
    for place in range(60):
        network.send(source, apdu(place, 5_000 if place % 3 else 10))
        network.run(1)
        if place == wait:
            late = network.add_receiver()
    network.run(60)
    assert late is not None
    check(early, source)
    check(late, source, begins=None)
    assert late.lost == []
    assert wait < int.from_bytes(late.delivered[source.tsi][0][:4], "big") <= wait + 5


def test_a_receiver_that_was_disconnected_for_too_long_reports_its_loss() -> None:
    network = Network(3, settings=PgmSettings(rate=2_000_000, window=Duration(20 * SECOND)))
    source, receiver, other = network.add_source(), network.add_receiver(), network.add_receiver()
    for place in range(100):
        if place == 20:
            network.passes = lambda node, packet: node is not receiver
        if place == 80:
            network.passes = lambda node, packet: True
        network.send(source, apdu(place, 10))
        network.run(1)
    network.run(60)
    check(receiver, source)
    check(other, source)
    assert other.lost == []
    assert sum(loss.packets for loss in receiver.lost) == 100 - len(receiver.delivered[source.tsi])
    assert 40 <= sum(loss.packets for loss in receiver.lost) <= 60


def test_a_source_that_starts_again_has_a_new_session() -> None:
    network = Network(4, loss=0.3, settings=LIMITS)
    receiver = network.add_receiver()
    first = network.add_source()
    for place in range(20):
        network.send(first, apdu(place, 2_000))
    network.run(30)
    network.nodes.remove(first)
    second = network.add_source()
    for place in range(20):
        network.send(second, apdu(place, 2_000))
    network.run(30)
    check(receiver, first)
    check(receiver, second)
    assert receiver.lost == []


@pytest.mark.parametrize("before", [3, 100], ids=["few packets", "many packets"])
@pytest.mark.parametrize("pause", [0.1, 5, 1000], ids=["at once", "soon", "after it was forgotten"])
def test_a_source_that_starts_again_under_its_old_identifier_loses_nothing(pause: float, before: int) -> None:
    network = Network(8, loss=0.25, jitter=5 * MILLISECOND, settings=LIMITS)
    receiver = network.add_receiver()
    first = network.add_source(first=0)
    for place in range(before):
        network.send(first, apdu(place, 10))
    network.run(30)
    check(receiver, first)
    network.nodes.remove(first)
    network.run(pause)
    second = network.add_source(first=0, tsi=first.tsi)
    for place in range(50):
        network.send(second, apdu(place, 11))
        network.run(0.1)
    network.run(30)
    came = receiver.delivered[first.tsi]
    assert came[:before] == first.submitted
    begin = came.index(second.submitted[0])
    assert came[begin:] == second.submitted
    if pause > 1:  # else the first of them may be taken for packets of the session before
        assert begin == before
        assert receiver.lost == []


def test_a_closed_session_still_delivers_to_all_receivers() -> None:
    network = Network(5, loss=0.3, settings=LIMITS)
    receivers = [network.add_receiver() for _ in range(3)]
    source = network.add_source()
    for place in range(50):
        network.send(source, apdu(place, 3_000))
    network.close(source)
    network.run(30)
    for receiver in receivers:
        check(receiver, source)
        assert receiver.lost == []
    fins = [packet for _, packet in network.carried if isinstance(packet, Spm) and packet.fin]
    assert len(fins) > 50


def test_only_a_few_of_many_receivers_request_a_lost_packet() -> None:
    network = Network(6, settings=LIMITS)
    receivers = [network.add_receiver() for _ in range(50)]
    source = network.add_source(first=1)
    network.run(1)
    network.passes = lambda node, packet: not isinstance(packet, Data) or packet.repair or packet.number != 5
    for place in range(10):
        network.send(source, apdu(place, 10))
    network.run(10)
    for receiver in receivers:
        check(receiver, source)
    assert sum(receiver.machine.shared.naks for receiver in receivers) < 15
    assert source.machine.repairs.sent == 1
    assert network.count(PgmPacketType.NCF) == source.machine.repairs.naks


@pytest.mark.spec("SR-009", "SR-012")
def test_a_busy_source_still_sends_spms_at_short_intervals() -> None:
    network = Network(7, settings=LIMITS)
    source, receiver = network.add_source(), network.add_receiver()
    for place in range(300):
        network.send(source, apdu(place, 60_000 if place % 7 == 0 else 10))
        network.run(0.02)
    network.run(5)
    check(receiver, source)
    moments = [moment for moment, packet in network.carried if isinstance(packet, Spm)]
    assert max(later - earlier for earlier, later in pairwise(moments)) <= 500 * MILLISECOND
    since = 0
    for _, packet in network.carried:
        since = 0 if isinstance(packet, Spm) else since + 1
        assert since <= 50
