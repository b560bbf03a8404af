"""SRMP's multicast effects, performed on a link that a test controls."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

import pytest

from reliquary.base.time import SECOND
from reliquary.base.turn import Warn
from reliquary.net.multicast.carrier import Carrier, Count, parse
from reliquary.net.multicast.links import Heard, Link
from reliquary.net.multicast.options import MulticastOptions
from reliquary.protocols.pgm.budget import SHARE
from reliquary.protocols.srmp.effects import EndSession, ListenTo, SendApdu
from reliquary.protocols.srmp.events import ApduArrived, PostEnded
from reliquary.queueing.travel.failures import Failure
from reliquary.wire.pgm import packets
from reliquary.wire.pgm.packets import Data, Nak, Packet, PgmPacketType, Spm, Tsi
from tests.protocols.pgm.pgm_network import SeededChance

GROUP, ADDRESS = "234.1.1.1", "234.1.1.1:8001"
QUICK = MulticastOptions(rate=10_000_000)


class Loop:
    """A clock and alarms that a test moves."""

    def __init__(self) -> None:
        self.now = 1_000_000
        self.alarms: list[tuple[float, Callable[..., None], tuple[object, ...]]] = []

    def monotonic(self) -> int:
        return self.now

    def call_later(self, delay: float, act: Callable[..., None], *arguments: object) -> asyncio.TimerHandle:
        alarm = (self.now / SECOND + delay, act, arguments)
        self.alarms.append(alarm)

        class Handle:
            def cancel(handle) -> None:  # noqa: N805
                if alarm in self.alarms:
                    self.alarms.remove(alarm)

        return Handle()  # type: ignore[return-value]

    def run(self, seconds: float) -> None:
        end = self.now / SECOND + seconds
        while self.alarms and (first := min(self.alarms, key=lambda alarm: alarm[0]))[0] <= end:
            self.alarms.remove(first)
            self.now = max(self.now, round(first[0] * SECOND))
            first[1](*first[2])
        self.now = round(end * SECOND)


class Wire(Link):
    """Keeps what is sent; receives what the test sends."""

    refusing = False

    def __init__(self, options: MulticastOptions, heard: Heard) -> None:
        self._heard = heard
        self._open()

    def _open(self) -> None:
        self.groups: list[str] = []
        self.sent: list[tuple[Packet, bool, bool]] = []
        self.up: list[tuple[Packet, str]] = []
        self.closed = self.paused = False

    def join(self, group: str) -> None:
        if Wire.refusing:
            raise OSError("the network is missing")
        self.groups.append(group)

    def leave(self, group: str) -> None:
        self.groups.remove(group)

    def multicast(self, packet: bytes, group: str, *, near: bool = False, alert: bool = False) -> None:
        self.sent.append((packets.decode(packet), near, alert))

    def unicast(self, packet: bytes, to: str) -> None:
        self.up.append((packets.decode(packet), to))

    def address_towards(self, group: str) -> str:
        return "10.0.0.1"

    def pause(self, pressed: bool) -> None:
        self.paused = pressed

    def close(self) -> None:
        self.closed = True

    def hear(self, packet: Packet | bytes, to: str = GROUP, sender: str = "10.0.0.2") -> None:
        self._heard(packet if isinstance(packet, bytes) else packets.encode(packet), sender, to)


class Bench:
    """A carrier, its link, and what it tells."""

    def __init__(self, options: MulticastOptions = QUICK) -> None:
        self.loop = Loop()
        self.links: list[Wire] = []
        self.ended: list[PostEnded] = []
        self.arrived: list[ApduArrived] = []
        self.warned: list[Warn] = []

        def make(chosen: MulticastOptions, heard: Heard) -> Link:
            self.links.append(Wire(chosen, heard))
            return self.links[-1]

        self.carrier = Carrier(
            options,
            chance=SeededChance(1),
            clock=self.loop,
            ended=self.ended.append,
            arrived=self.arrived.append,
            warn=self.warned.append,
            make_link=make,
            call_later=self.loop.call_later,
        )

    @property
    def link(self) -> Wire:
        (link,) = self.links
        return link

    def send(self, lookup_id: int, data: bytes = b"message", address: str = ADDRESS) -> None:
        self.carrier.send(SendApdu(7, 3, lookup_id, address, data))

    def listen(self, *addresses: str) -> None:
        self.carrier.listen(ListenTo(frozenset(addresses)))

    def data(self) -> list[Data]:
        return [packet for packet, _, _ in self.link.sent if isinstance(packet, Data)]


@pytest.fixture(autouse=True)
def _no_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Wire, "refusing", False)


def test_nothing_is_opened_before_it_is_needed() -> None:
    here = Bench()
    here.listen()
    here.carrier.pause(True)
    here.carrier.stop()
    assert here.links == []


@pytest.mark.spec("SR-005")
def test_a_message_ends_with_200_when_its_last_packet_is_sent() -> None:
    here = Bench(MulticastOptions(rate=10_000))
    here.send(1, bytes(4_000))
    assert here.ended == []
    here.loop.run(1)
    assert here.ended == [PostEnded(7, 3, 1, 200)]
    assert b"".join(data.payload for data in here.data()) == bytes(4_000)
    spm = next(packet for packet, _, _ in here.link.sent if isinstance(packet, Spm))
    assert (spm.path, spm.port) == ("10.0.0.1", 8001)


def test_routers_are_alerted_to_all_but_new_data() -> None:
    here = Bench()
    here.send(1)
    (data,) = here.data()
    here.link.hear(Nak(PgmPacketType.NAK, data.tsi, 8001, (data.number,), "10.0.0.1", GROUP), to="10.0.0.1")
    here.loop.run(1)
    alerts = {
        (type(packet).__name__, getattr(packet, "repair", None)): alert for packet, _, alert in here.link.sent
    }
    assert alerts == {
        ("Spm", None): True,
        ("Data", False): False,
        ("Nak", None): True,
        ("Data", True): True,
    }


@pytest.mark.srmp("T-74")
@pytest.mark.spec("SR-013")
def test_a_message_that_is_too_large_is_refused_for_good() -> None:  # T-74
    here = Bench()
    here.send(1, bytes(65_537))
    (ended,) = here.ended
    assert (ended.status, ended.failure) == (400, None)
    assert "1 to 65536 bytes" in ended.why
    assert here.data() == []


@pytest.mark.parametrize("address", ["10.0.0.1:8001", "234.1.1.1", "here:1", "234.1.1.1:70000", "234.1.1:1"])
def test_what_is_no_multicast_address_cannot_be_sent_to(address: str) -> None:
    here = Bench()
    here.send(1, address=address)
    assert here.ended[0].failure is Failure.NO_ADDRESS
    assert parse(address) is None


def test_without_a_network_a_message_is_tried_again_later() -> None:
    here = Bench()
    Wire.refusing = True
    here.send(1)
    assert (here.ended[0].status, here.ended[0].failure) == (0, Failure.NO_CONNECTION)


@pytest.mark.spec("SR-005")
def test_what_comes_to_an_address_is_handed_on() -> None:
    here, there = Bench(), Bench()
    here.send(1, b"one")
    here.send(2, bytes(5_000))
    here.loop.run(1)
    there.listen(ADDRESS)
    for packet, _, _ in here.link.sent:
        there.link.hear(packet)
    assert there.arrived == [ApduArrived(ADDRESS, b"one"), ApduArrived(ADDRESS, bytes(5_000))]


def test_what_comes_to_another_address_is_not() -> None:  # T-73
    here, there = Bench(), Bench()
    here.send(1)
    there.listen("234.1.1.1:8002", "234.1.1.2:8001")
    for packet, _, _ in here.link.sent:
        there.link.hear(packet)
    assert there.arrived == []
    assert sorted(there.link.groups) == ["234.1.1.1", "234.1.1.2"]


def test_what_is_missing_is_asked_for_by_both_ways_and_repaired() -> None:
    here, there = Bench(), Bench()
    there.listen(ADDRESS)
    here.send(1, b"one")
    here.send(2, b"two")
    here.send(3, b"three")
    for packet, _, _ in here.link.sent:
        if not isinstance(packet, Data) or packet.payload != b"two":
            there.link.hear(packet)
    assert [apdu.data for apdu in there.arrived] == [b"one"]
    there.loop.run(0.06)
    ((nak, to),) = there.link.up
    assert to == "10.0.0.2"  # where the data came from
    assert (nak, True) in [(packet, near) for packet, near, _ in there.link.sent]
    before = len(here.link.sent)
    here.link.hear(nak, to="10.0.0.1")
    here.loop.run(0.1)
    for packet, _, _ in here.link.sent[before:]:
        there.link.hear(packet)
    assert [apdu.data for apdu in there.arrived] == [b"one", b"two", b"three"]
    assert there.carrier.counts == {Count.MESSAGES_RECEIVED: 3}
    assert here.carrier.counts == {
        Count.MESSAGES_SENT: 3, Count.PACKETS_SENT: 3, Count.PACKETS_REPAIRED: 1,
    }  # fmt: skip


def test_what_is_lost_is_warned_of() -> None:
    here, there = Bench(), Bench()
    there.listen(ADDRESS)
    here.send(1, b"one")
    here.send(2, b"two")
    for packet, _, _ in here.link.sent:
        if not isinstance(packet, Data) or packet.payload != b"one":
            there.link.hear(packet)
    there.loop.run(20)
    assert [apdu.data for apdu in there.arrived] == [b"two"]
    (warning,) = there.warned
    assert (warning.about, warning.what) == (f"multicast {ADDRESS}", "messages were lost")
    assert there.carrier.counts == {Count.MESSAGES_RECEIVED: 1, Count.PACKETS_LOST: 1}


def test_packets_that_are_not_used_are_counted_by_the_reason() -> None:
    here = Bench()
    here.listen(ADDRESS)
    tsi = Tsi(b"source", 9)
    for number, trail in ((60, 60), (60, 60), (62, 60), (62 + (1 << 31), 62 + (1 << 31)), (30_000, 60)):
        here.link.hear(Data(tsi, 8001, number, trail, b"x"))
    assert here.carrier.counts[Count.PACKETS_DUPLICATE] == 1
    assert here.carrier.counts[Count.PACKETS_IGNORED] == 1
    assert here.carrier.counts[Count.PACKETS_DEFERRED] == 1


def test_a_source_that_begins_anew_is_counted_and_warned_of() -> None:
    here = Bench()
    here.listen(ADDRESS)
    for number in (700, 0, 1):
        here.link.hear(Spm(Tsi(b"source", 9), 8001, number, 60, 59, "10.0.0.2"))
        here.loop.run(2)
    assert here.carrier.counts == {Count.SOURCES_RESTARTED: 1}
    why = "736f75726365.9 has restarted its numbering, and repairs no earlier packets"
    assert here.warned == [Warn(f"multicast {ADDRESS}", "a source was restarted", why)]


def test_what_is_missing_is_bounded_over_all_groups_and_forgotten_with_its_group() -> None:
    here = Bench()
    other = "234.1.1.1:8002"
    here.listen(ADDRESS, other)
    for port in (8001, 8002):
        for lead in (99, 50_000):
            here.link.hear(Spm(Tsi(b"source", 9), port, lead, 0, lead, "10.0.0.2"))
    most = here.carrier.budget.missing
    assert most == QUICK.protocol.most_missing + SHARE
    here.listen(other)
    assert here.carrier.budget.missing == SHARE
    here.listen()
    assert here.carrier.budget.missing == 0


def test_a_group_is_left_when_no_queue_needs_it() -> None:
    here = Bench()
    here.listen(ADDRESS, "234.1.1.1:8002")
    here.send(1)
    assert here.link.groups == [GROUP]
    here.listen("234.1.1.1:8002")
    here.listen()
    assert here.link.groups == [GROUP]  # the source needs it for NAKs
    here.carrier.end(EndSession(7, 3))
    here.loop.run(400)
    assert here.link.groups == []
    assert here.loop.alarms == []


def test_a_session_that_ended_says_fin_and_the_next_message_begins_another() -> None:
    here = Bench()
    here.send(1)
    here.carrier.end(EndSession(7, 3))
    here.carrier.end(EndSession(8, 1))
    last = here.link.sent[-1][0]
    assert isinstance(last, Spm)
    assert last.fin
    here.send(2)
    first, second = here.data()
    assert first.tsi != second.tsi
    here.link.hear(Nak(PgmPacketType.NAK, first.tsi, 8001, (first.number,), "10.0.0.1", GROUP))
    here.loop.run(1)
    assert [data.repair for data in here.data()] == [False, False, True]


def test_a_group_that_cannot_be_joined_is_tried_again() -> None:
    here = Bench()
    Wire.refusing = True
    here.listen(ADDRESS)
    why = "the network is missing; it is tried again: check multicast.interface"
    assert here.warned == [Warn(f"multicast {ADDRESS}", "the group cannot be joined", why)]
    Wire.refusing = False
    here.loop.run(31)
    assert here.link.groups == [GROUP]
    here.carrier.stop()


def test_what_is_no_packet_is_counted_and_dropped() -> None:
    here = Bench()
    here.listen(ADDRESS)
    here.link.hear(b"hello")
    assert here.carrier.counts == {Count.PACKETS_REFUSED: 1}


def test_a_request_for_an_spm_is_not_counted_as_refused() -> None:
    here = Bench()
    here.listen(ADDRESS)
    spmr = bytearray(packets.encode(Spm(Tsi(b"source", 9), 8001, 0, 0, 0, "10.0.0.2"))[:16])
    spmr[4:8] = b"\x0c\0\0\0"
    here.link.hear(bytes(spmr))
    assert here.carrier.counts == {}


def test_an_engine_that_has_enough_to_do_stops_the_reading() -> None:
    here = Bench()
    here.listen(ADDRESS)
    here.carrier.pause(True)
    assert here.link.paused
    here.carrier.pause(False)
    assert not here.link.paused


def test_at_the_end_all_sessions_say_fin_and_the_link_is_closed() -> None:
    here = Bench(MulticastOptions(rate=1_000))
    here.listen(ADDRESS)
    here.send(1)
    for number in range(2, 40):
        here.send(number, bytes(1_000))
    here.carrier.stop()
    last = here.link.sent[-1][0]
    assert isinstance(last, Spm)
    assert last.fin
    assert here.link.closed
    assert here.loop.alarms == []
