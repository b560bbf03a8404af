"""Tests one session at a receiver."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.time import MILLISECOND, SECOND, Instant
from reliquary.protocols.pgm.actions import Action, Deliver, Lost, Multicast, Restarted, Unicast, Unused
from reliquary.protocols.pgm.receiver import Receiver
from reliquary.protocols.pgm.settings import PgmSettings
from reliquary.wire.pgm.options import Fragment, Reset
from reliquary.wire.pgm.packets import Data, Nak, Packet, PgmPacketType, Spm, Tsi
from reliquary.wire.pgm.serial import MASK
from tests.protocols.pgm.pgm_network import GROUP, PORT, SeededChance

TSI = Tsi(b"source", 9)
START = Instant(1_000_000)


class Bench:
    """A receiver with one source."""

    def __init__(self, **settings: Any) -> None:
        self.now = START
        self.receiver = Receiver(GROUP, PORT, PgmSettings(**settings), SeededChance(1))
        self.spm_number = 0
        self.wake: Instant | None = None

    def hear(self, packet: Packet) -> list[Action]:
        step = self.receiver.hear(packet, "10.0.0.1", self.now)
        self.wake = step.wake
        return step.actions

    def data(self, number: int, payload: bytes = b"x", trail: int = 90, **more: Any) -> list[str]:
        trail = more.pop("trail", min(trail, number))
        return reported(self.hear(Data(TSI, PORT, number & MASK, trail & MASK, payload, **more)))

    def spm(self, lead: int, trail: int = 90, **more: Any) -> list[str]:
        self.spm_number += 1
        path = more.pop("path", "10.0.0.7")
        return reported(self.hear(Spm(TSI, PORT, self.spm_number, trail & MASK, lead & MASK, path, **more)))

    def run(self, span: int) -> list[Action]:
        """Let time pass, and return the requests of that time."""
        actions: list[Action] = []
        end = Instant(self.now + span)
        while self.wake is not None and self.wake <= end:
            self.now = max(self.now, self.wake)
            step = self.receiver.wake(self.now)
            self.wake = step.wake
            actions += step.actions
        self.now = end
        return actions


def reported(actions: list[Action]) -> list[str]:
    """Deliveries, losses and packets that were not used, in few words."""
    return [word for word in map(_word, actions) if word]


def _word(action: Action) -> str:
    match action:
        case Deliver():
            return action.apdu.decode()
        case Lost():
            return f"lost {action.first}+{action.packets}"
        case Unused():
            return action.reason.value
        case Restarted():
            return "restarted"
        case _:
            return ""


def asked(actions: list[Action]) -> list[tuple[int, ...]]:
    """Return what the NAKs ask for."""
    return [action.packet.numbers for action in actions if isinstance(action, Unicast)]


def test_a_session_begins_with_the_first_packet() -> None:
    bench = Bench()
    bench.spm(99)
    assert bench.data(100, b"a") == ["a"]
    assert Bench().data(105, b"b") == ["b"]


def test_packets_after_a_first_spm_are_not_missed() -> None:
    bench = Bench()
    bench.spm(99)
    assert bench.data(102, b"c") == []
    assert asked(bench.run(SECOND // 10)) == [(100, 101)]


def test_what_was_sent_before_is_not_asked_for() -> None:
    bench = Bench()
    bench.data(105)
    bench.spm(105)
    assert bench.run(20 * SECOND) == []
    assert bench.data(104, b"late") == ["duplicate"]


@pytest.mark.parametrize("by", ["spm", "data"])
def test_a_receiver_that_joins_late_may_begin_at_earlier_packets(by: str) -> None:
    bench = Bench()
    if by == "data":
        bench.data(105, join=100)
    bench.spm(105, join=100)
    assert asked(bench.run(SECOND // 10)) == [tuple(range(100, 105 + (by == "spm")))]


def test_join_does_not_reach_before_the_window() -> None:
    bench = Bench()
    bench.spm(105, trail=103, join=100)
    assert asked(bench.run(SECOND // 10)) == [(103, 104, 105)]


def test_a_packet_that_overtook_another_waits_for_it() -> None:
    bench = Bench()
    bench.spm(99)
    assert bench.data(101, b"b") == []
    assert bench.data(100, b"a") == ["a", "b"]
    assert bench.data(100, b"a") == ["duplicate"]
    assert bench.run(SECOND) == []


def test_numbers_come_round() -> None:
    bench = Bench()
    bench.spm(MASK - 1, trail=MASK - 9)
    assert bench.data(MASK + 1, b"b", trail=MASK - 9) == []
    assert bench.data(MASK, b"a", trail=MASK - 9) == ["a", "b"]
    assert bench.data(MASK + 2, b"c", trail=MASK - 9) == ["c"]


def test_no_nak_goes_before_the_first_spm() -> None:
    bench = Bench()
    bench.data(100)
    bench.data(102)
    assert bench.run(20 * SECOND) == []
    bench.spm(102)
    assert asked(bench.run(SECOND // 10)) == [(101,)]


def test_a_nak_goes_to_the_address_that_the_packets_came_from_and_near_by_to_the_group() -> None:
    bench = Bench()
    bench.spm(99)
    bench.spm(100, path="10.0.0.8")  # where an SPM says that NAKs go: it may be made up
    nak = Nak(PgmPacketType.NAK, TSI, PORT, (100,), "10.0.0.1", GROUP)
    assert bench.run(SECOND // 10) == [Unicast(nak, "10.0.0.1"), Multicast(nak, near=True)]


def test_naks_may_stay_off_the_group() -> None:
    bench = Bench(multicast_naks=False)
    bench.spm(99)
    bench.spm(100)
    assert len(bench.run(SECOND // 10)) == 1


def test_an_spm_that_is_older_than_the_last_is_passed_over() -> None:
    bench = Bench()
    bench.spm(99)
    bench.spm(100)
    bench.spm_number -= 2
    bench.spm(105)
    assert asked(bench.run(SECOND // 10)) == [(100,)]


def test_many_missing_packets_are_asked_for_in_lists_of_63() -> None:
    bench = Bench()
    bench.spm(99)
    bench.spm(199)
    assert [len(numbers) for numbers in asked(bench.run(SECOND // 10))] == [63, 37]


def test_what_others_ask_for_and_what_is_confirmed_is_not_asked_for_at_once() -> None:
    bench = Bench()
    bench.spm(99)
    bench.spm(102)
    bench.hear(Nak(PgmPacketType.NCF, TSI, PORT, (100,), "10.0.0.1", GROUP))
    bench.hear(Nak(PgmPacketType.NAK, TSI, PORT, (101, 555), "10.0.0.1", GROUP))
    assert asked(bench.run(700 * MILLISECOND)) == [(102,)]
    assert asked(bench.run(101 * MILLISECOND))[:1] == [(101,)]


@pytest.mark.spec("SR-007")
def test_what_never_comes_is_reported_as_lost_and_the_rest_is_delivered() -> None:
    bench = Bench()
    bench.spm(99)
    bench.data(102, b"c")
    bench.data(103, b"d")
    actions = bench.run(20 * SECOND)
    assert reported(actions) == ["lost 100+2", "c", "d"]
    assert asked(actions) == [(100, 101)] * 11
    assert bench.receiver.shared.lost == 2
    assert bench.data(104, b"e") == ["e"]
    assert bench.data(100, b"a") == ["duplicate"]


def test_what_comes_after_it_was_given_up_is_taken_if_it_is_not_too_late() -> None:
    bench = Bench()
    bench.spm(99)
    bench.spm(100)
    bench.run(SECOND)
    bench.data(102, b"c")  # 101 was found missing later than 100
    bench.hear(Nak(PgmPacketType.NCF, TSI, PORT, (100,), "10.0.0.1", GROUP))
    assert reported(bench.run(10 * SECOND)) == []
    assert bench.data(101, b"b") == []
    assert bench.data(100, b"a") == ["a", "b", "c"]


def test_what_the_source_does_not_keep_is_lost_at_once() -> None:
    bench = Bench()
    bench.spm(99)
    bench.data(101, b"b")
    bench.data(104, b"e")
    assert bench.spm(105, trail=103) == ["lost 100+1", "b", "lost 102+1"]
    assert bench.data(103, b"d", trail=103) == ["d", "e"]
    assert bench.data(1_000_000, b"z", trail=1_000_000) == ["lost 105+999895", "z"]


def test_a_trail_in_a_data_packet_counts_like_one_in_an_spm() -> None:
    bench = Bench()
    bench.spm(99)
    assert bench.data(101, b"b", trail=101) == ["lost 100+1", "b"]


def test_fragments_are_put_together_and_a_lost_one_takes_its_apdu_with_it() -> None:
    bench = Bench()
    bench.spm(99)
    assert bench.data(100, b"ab", fragment=Fragment(100, 0, 4)) == []
    assert bench.data(101, b"cd", fragment=Fragment(100, 2, 4)) == ["abcd"]
    assert bench.data(102, b"ef", fragment=Fragment(102, 0, 6)) == []
    assert bench.data(104, b"ij", fragment=Fragment(102, 4, 6)) == []
    assert bench.data(105, b"next") == []
    assert bench.spm(105, trail=104) == ["lost 103+1", "next"]


@pytest.mark.spec("SR-013")
def test_an_apdu_that_is_too_large_is_reported_and_not_buffered() -> None:
    bench = Bench()
    bench.spm(99)
    assert bench.data(100, b"x", fragment=Fragment(100, 0, 65_537)) == ["lost 100+0"]
    assert bench.data(101, b"x", fragment=Fragment(100, 1, 65_537)) == []
    assert bench.data(102, b"next") == ["next"]


def test_an_apdu_that_is_cut_short_is_reported_and_the_next_delivered() -> None:
    bench = Bench()
    bench.spm(99)
    bench.data(100, b"ab", fragment=Fragment(100, 0, 4))
    assert bench.data(101, b"next") == ["lost 101+0", "next"]


def test_no_more_is_buffered_than_allowed_and_what_is_dropped_is_asked_for_again() -> None:
    bench = Bench(most_buffered=100)
    bench.spm(99)
    unused = [word for number in range(101, 120) for word in bench.data(number, bytes(30))]
    assert bench.receiver.shared.buffered == 90
    assert unused == ["deferred"] * 16
    numbers = [number for numbers in asked(bench.run(SECOND // 10)) for number in numbers]
    assert sorted(numbers) == [100, *range(104, 120)]
    assert len(bench.data(100, b"a")) == 4
    assert bench.receiver.shared.buffered == 0


def test_numbers_far_after_a_gap_are_ignored() -> None:
    bench = Bench(most_ahead=10)
    bench.spm(99)
    assert bench.data(1_000_000_000) == ["deferred"]
    assert asked(bench.run(SECOND // 10)) == [tuple(range(100, 110))]


def test_a_source_that_breaks_off_ends_the_session() -> None:
    bench = Bench()
    bench.spm(99)
    bench.data(101, b"b")
    assert bench.spm(101, reset=Reset()) == ["lost 100+2"]
    assert bench.data(100, b"a") == ["duplicate"]
    assert bench.spm(105, reset=Reset()) == []
    assert bench.run(20 * SECOND) == []
    assert bench.receiver.shared.buffered == 0


def test_a_source_that_breaks_off_after_all_has_come_loses_nothing() -> None:
    bench = Bench()
    bench.spm(99)
    bench.data(100, b"a")
    assert bench.spm(100, reset=Reset()) == []


def test_missing_packets_are_repaired_after_fin() -> None:
    bench = Bench()
    bench.spm(99)
    bench.spm(100, fin=True)
    assert asked(bench.run(SECOND // 10)) == [(100,)]
    assert bench.data(100, b"a", repair=True) == ["a"]


def test_a_packet_that_comes_twice_behind_a_gap_is_buffered_once() -> None:
    bench = Bench()
    bench.spm(99)
    bench.data(101, b"b")
    assert bench.data(101, b"b") == ["duplicate"]
    assert bench.receiver.shared.buffered == 1
    assert bench.data(100, b"a") == ["a", "b"]
    assert bench.receiver.shared.buffered == 0


@pytest.mark.parametrize("away", [16_386, 1 << 31, -(1 << 31) + 1], ids=["behind", "half", "just over half"])
def test_a_number_that_is_far_behind_is_counted_and_changes_nothing(away: int) -> None:
    bench = Bench()
    bench.spm(99)
    assert bench.data(100 - away, b"far", trail=100 - away) == ["ignored"]
    assert bench.run(20 * SECOND) == []
    assert bench.data(100, b"a") == ["a"]


def test_a_jump_over_half_of_all_numbers_costs_no_time_after_something_was_given_up() -> None:
    bench = Bench()
    bench.spm(99)
    bench.spm(100)
    bench.run(SECOND)
    bench.data(102, b"c")
    bench.hear(Nak(PgmPacketType.NCF, TSI, PORT, (100,), "10.0.0.1", GROUP))
    bench.run(9 * SECOND)  # 101 is given up, and 100 is still waited for
    far = 100 + (1 << 31) - 10
    assert bench.data(far, b"far", trail=far) == ["lost 100+2", "c", f"lost 103+{far - 103}", "far"]


def test_what_is_buffered_with_many_gaps_is_passed_over_in_one_go() -> None:
    bench = Bench()
    bench.spm(99)
    for number in range(101, 141, 2):
        bench.data(number, b"x")
    assert bench.spm(140, trail=104) == ["lost 100+1", "x", "lost 102+1", "x"]
    gaps = [f"lost {number}+1" for number in range(104, 142, 2)]
    assert bench.spm(140, trail=141) == [word for gap in gaps for word in (gap, "x")][:-1]


def test_a_session_misses_no_more_than_there_is_room_for_and_gets_the_rest_later() -> None:
    bench = Bench(most_missing=70)
    bench.spm(99)
    assert bench.data(180, b"far") == ["deferred"]
    assert asked(bench.run(SECOND // 10)) == [tuple(range(100, 163)), tuple(range(163, 170))]
    for number in range(100, 170):
        assert bench.data(number, b"x", repair=True) == ["x"]
    bench.spm(180)
    assert asked(bench.run(SECOND // 10)) == [tuple(range(170, 181))]
