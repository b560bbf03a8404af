"""A source sends data, repairs and heartbeats within its rate."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import MILLISECOND, SECOND, Duration, Instant, seconds
from reliquary.protocols.pgm.actions import Multicast, PgmResult, Sent
from reliquary.protocols.pgm.settings import PgmSettings
from reliquary.protocols.pgm.source import NEXT, Source, SourceEvent, SourceState
from reliquary.wire.pgm.options import Fragment
from reliquary.wire.pgm.packets import Data, Nak, Packet, PgmPacketType, Spm, Tsi
from reliquary.wire.pgm.serial import MASK

TSI = Tsi(b"source", 9)
GROUP = "234.1.1.1"
START = Instant(1_000_000)


class Bench:
    """A source that is woken when it wants; all that it sends is kept with its moment."""

    def __init__(self, settings: PgmSettings | None = None, first: int = 100) -> None:
        self.settings = settings or PgmSettings(rate=10_000_000)
        self.now = START
        self.source = Source(TSI, GROUP, 8001, "10.0.0.1", self.settings, first, START)
        self.sent: list[tuple[Instant, Packet]] = []
        self.tickets: list[object] = []
        self.wake: Instant | None = None
        self.take(self.source.wake(START))

    def take(self, step: PgmResult) -> list[Packet]:
        packets = [action.packet for action in step.actions if isinstance(action, Multicast)]
        self.tickets += [action.ticket for action in step.actions if isinstance(action, Sent)]
        self.sent += [(self.now, packet) for packet in packets]
        self.wake = step.wake
        return packets

    def submit(self, apdu: bytes) -> list[Packet]:
        return self.take(self.source.submit(len(self.tickets), apdu, self.now))

    def nak(self, *numbers: int, kind: PgmPacketType = PgmPacketType.NAK, group: str = GROUP) -> list[Packet]:
        wanted = tuple(number & MASK for number in numbers)
        return self.take(self.source.hear(Nak(kind, TSI, 8001, wanted, "10.0.0.1", group), self.now))

    def run(self, span: int) -> list[Packet]:
        """Let time pass, and return the packets of that time."""
        before, end = len(self.sent), Instant(self.now + span)
        while self.wake is not None and self.wake <= end:
            self.now = max(self.wake, self.now)
            self.take(self.source.wake(self.now))
        self.now = end
        return [packet for _, packet in self.sent[before:]]

    def state(self) -> SourceState:
        return self.source.state

    def data(self) -> list[Data]:
        return [packet for _, packet in self.sent if isinstance(packet, Data)]

    def spms(self) -> list[tuple[Instant, Spm]]:
        return [(moment, packet) for moment, packet in self.sent if isinstance(packet, Spm)]


def test_the_table_of_its_life_answers_every_case() -> None:
    assert set(NEXT) == set(product(SourceState, SourceEvent))


def test_an_spm_with_an_empty_window_goes_before_all_data() -> None:
    bench = Bench()
    ((_, spm),) = bench.spms()
    assert (spm.number, spm.trail, spm.lead, spm.path) == (1, 100, 99, "10.0.0.1")


def test_an_apdu_that_fits_is_one_packet() -> None:
    bench = Bench()
    (data,) = bench.submit(b"hello")
    assert isinstance(data, Data)
    assert (data.number, data.trail, data.payload, data.fragment) == (100, 100, b"hello", None)
    assert bench.tickets == [0]


def test_the_first_packet_has_syn_and_so_has_its_repair() -> None:
    bench = Bench()
    bench.submit(b"one")
    bench.submit(b"two")
    bench.nak(100, 101)
    bench.run(SECOND)
    assert [(data.number, data.syn) for data in bench.data()] == [
        (100, True), (101, False), (100, True), (101, False),
    ]  # fmt: skip


def test_a_larger_one_goes_in_fragments_and_numbers_come_round() -> None:
    bench = Bench(first=MASK)
    apdu = bytes(range(256)) * 12
    bench.submit(apdu)
    bench.run(SECOND)
    parts = bench.data()
    assert [data.number for data in parts] == [MASK, 0, 1]
    assert b"".join(data.payload for data in parts) == apdu
    assert [data.fragment for data in parts] == [Fragment(MASK, at, 3072) for at in (0, 1412, 2824)]
    assert bench.tickets == [0]


@pytest.mark.spec("SR-013")
@pytest.mark.parametrize("size", [0, 65_537])
def test_an_apdu_that_is_too_large_or_empty_is_refused(size: int) -> None:
    bench = Bench()
    with pytest.raises(UsageError, match="1 to 65536 bytes"):
        bench.submit(bytes(size))
    bench.submit(bytes(65_536))


@pytest.mark.spec("SR-009")
def test_an_ambient_spm_goes_after_50_data_packets() -> None:
    bench = Bench(PgmSettings(rate=100_000_000))
    for _ in range(120):
        bench.submit(b"x")
    kinds = [type(packet) for _, packet in bench.sent]
    assert [at for at, kind in enumerate(kinds) if kind is Spm] == [0, 51, 102]


@pytest.mark.spec("SR-009")
def test_an_ambient_spm_goes_half_a_second_after_the_last() -> None:
    bench = Bench()
    bench.submit(b"x")
    bench.run(10 * SECOND)
    gaps = [(later - earlier) for (earlier, _), (later, _) in pairwise(bench.spms())]
    assert max(gaps) == 500 * MILLISECOND
    assert len(gaps) >= 20


@pytest.mark.spec("SR-007")
def test_heartbeats_come_after_one_second_and_then_less_and_less_often() -> None:
    bench = Bench(PgmSettings(ambient_time=Duration(1000 * SECOND)))
    bench.submit(b"x")
    bench.run(60 * SECOND)
    assert [(moment - START) // SECOND for moment, _ in bench.spms()] == [0, 1, 3, 7, 15, 30, 45, 60]
    bench.submit(b"y")
    bench.run(2 * SECOND)
    assert (bench.spms()[-1][0] - START) // SECOND == 61


@pytest.mark.spec("SR-007")
def test_a_source_keeps_its_rate() -> None:
    bench = Bench(PgmSettings())
    for _ in range(200):
        bench.submit(bytes(1_000))
    bench.run(seconds(1))
    size = sum(24 + len(packet.payload) if isinstance(packet, Data) else 52 for _, packet in bench.sent)
    assert 65_000 < size <= 70_000 + 2_800
    bench.run(seconds(3))
    assert len(bench.tickets) == 200


@pytest.mark.spec("SR-006")
def test_a_nak_is_confirmed_at_once_with_all_its_numbers() -> None:
    bench = Bench()
    for _ in range(3):
        bench.submit(b"x")
    (ncf,) = bench.nak(101, 102)
    assert ncf == Nak(PgmPacketType.NCF, TSI, 8001, (101, 102), "10.0.0.1", GROUP)


@pytest.mark.spec("SR-010")
def test_repairs_follow_after_the_delay_of_the_formula() -> None:
    bench = Bench()
    for _ in range(6):
        bench.submit(b"x")
    bench.nak(100, 101, 105)
    bench.run(SECOND)
    repairs = [
        (data.number, (moment - START) // MILLISECOND)
        for moment, data in bench.sent
        if isinstance(data, Data) and data.repair
    ]
    assert repairs == [(100, 0), (101, 10), (105, 50)]


def test_naks_for_one_number_cause_one_repair() -> None:
    bench = Bench()
    for _ in range(6):
        bench.submit(b"x")
    bench.nak(105)
    bench.nak(105)
    bench.run(SECOND)
    assert bench.source.repairs.sent == 1
    bench.nak(105)
    bench.run(SECOND)
    assert bench.source.repairs.sent == 2
    assert bench.source.repairs.naks == 3


@pytest.mark.parametrize("numbers", [(99,), (103,), (50, 60)], ids=["before", "behind", "far before"])
def test_what_is_not_in_the_window_is_neither_confirmed_nor_repaired(numbers: tuple[int, ...]) -> None:
    bench = Bench()
    for _ in range(3):
        bench.submit(b"x")
    assert bench.nak(*numbers) == []
    assert not any(isinstance(packet, Data) for packet in bench.run(SECOND))


def test_other_groups_and_null_naks_mean_nothing() -> None:
    bench = Bench()
    bench.submit(b"x")
    assert bench.nak(100, kind=PgmPacketType.NNAK) == []
    assert bench.nak(100, group="234.1.1.2") == []


def test_repairs_let_new_data_pass() -> None:
    bench = Bench(PgmSettings(rate=100_000, bucket=Duration(1)))
    for _ in range(40):
        bench.submit(bytes(1_000))
    bench.run(SECOND)
    for _ in range(10):
        bench.submit(bytes(1_000))
    before = len(bench.data())
    bench.nak(*range(100, 130))
    bench.run(2 * SECOND)
    order = [data.repair for data in bench.data()[before:]]
    assert order[:16] == [True, True, True, False] * 4
    assert order.count(True) == 30


@pytest.mark.spec("SR-011")
def test_the_window_moves_on_every_interval() -> None:
    settings = PgmSettings(window=Duration(100 * SECOND))
    bench = Bench(settings)
    for _ in range(20):
        bench.submit(b"x")
        bench.run(10 * SECOND)
    trails = {moment: spm.trail for moment, spm in bench.spms()}
    moved = sorted({trail: moment for moment, trail in reversed(trails.items())}.items())
    assert [(trail, (moment - START) // SECOND) for trail, moment in moved[:3]] == [
        (100, 0), (101, 90), (102, 105),
    ]  # fmt: skip
    window = bench.source.window
    assert (window.lead - window.trail) * 10 <= 100


@pytest.mark.spec("SR-012")
def test_the_window_does_not_move_past_a_pending_nak() -> None:
    settings = PgmSettings(window=Duration(100 * SECOND), repair_delay=Duration(1000 * SECOND))
    bench = Bench(settings)
    for _ in range(8):
        bench.submit(b"x")
    bench.nak(104)
    bench.run(300 * SECOND)
    assert bench.source.window.trail == 104


def test_a_window_that_cannot_move_holds_back_new_data() -> None:
    settings = PgmSettings(rate=1_000_000, most_kept=20_000, repair_delay=Duration(1000 * SECOND))
    bench = Bench(settings)
    bench.submit(bytes(1_000))
    bench.submit(bytes(1_000))
    bench.nak(101)
    for _ in range(100):
        bench.submit(bytes(1_000))
    bench.run(5 * SECOND)
    assert bench.source.window.size <= 2 * 20_000 + settings.room
    assert len(bench.tickets) < 50


def test_a_receiver_that_loses_the_first_packets_can_get_them_for_a_while() -> None:
    bench = Bench(first=7)
    bench.submit(b"x")
    assert bench.data()[0].join == 7
    bench.run(11 * SECOND)
    bench.submit(b"y")
    assert bench.data()[-1].join is None
    assert bench.spms()[-1][1].join is None


def test_a_session_that_is_closed_sends_what_waits_then_fin_for_a_window() -> None:
    bench = Bench(PgmSettings(rate=10_000, window=Duration(20 * SECOND)))
    for _ in range(5):
        bench.submit(bytes(1_000))
    bench.take(bench.source.close(bench.now))
    assert bench.state() is SourceState.FINISHING
    with pytest.raises(UsageError, match="finishing"):
        bench.submit(b"x")
    bench.run(SECOND)
    assert bench.state() is SourceState.FINISHED
    assert len(bench.tickets) == 5
    assert [spm.fin for _, spm in bench.spms()][-1]
    bench.nak(102)
    assert any(isinstance(packet, Data) for packet in bench.run(SECOND))
    assert all(spm.fin for _, spm in bench.spms()[-4:])
    bench.run(20 * SECOND)
    assert bench.state() is SourceState.ENDED
    assert bench.wake is None
    assert bench.nak(102) == []


def test_a_session_that_is_aborted_sends_rst_and_repairs_nothing() -> None:
    bench = Bench(PgmSettings(rate=1_000, window=Duration(20 * SECOND)))
    for _ in range(5):
        bench.submit(bytes(1_000))
    bench.nak(100)
    packets = bench.take(bench.source.abort(bench.now))
    assert isinstance(packets[-1], Spm)
    assert packets[-1].reset is not None
    assert bench.nak(100) == []
    after = bench.run(30 * SECOND)
    assert after
    assert all(isinstance(packet, Spm) and packet.reset is not None for packet in after)
    assert bench.source.state is SourceState.ENDED


def test_what_waits_can_be_withdrawn_and_what_was_begun_is_finished() -> None:
    bench = Bench(PgmSettings(rate=10_000))
    bench.submit(bytes(4_000))
    bench.submit(b"never")
    bench.run(SECOND // 10)
    assert len(bench.data()) == 1
    bench.source.withdraw()
    bench.run(2 * SECOND)
    assert len(bench.tickets) == 1
    assert sum(len(data.payload) for data in bench.data()) == 4_000


def test_no_receiver_is_asked_to_join_where_the_window_has_passed() -> None:
    bench = Bench(PgmSettings(window=Duration(2 * SECOND)))
    bench.submit(b"x")
    bench.run(4 * SECOND)
    assert bench.source.window.trail == 101
    assert bench.spms()[-1][1].join is None
