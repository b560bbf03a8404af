"""Repairs are requested once for each number, and are sent in the order they are due."""

from __future__ import annotations

from reliquary.base.time import Duration, Instant
from reliquary.protocols.pgm.repair_requests import RepairRequests
from reliquary.protocols.pgm.window import SentPacket, TransmitWindow

START = Instant(0)
LONGEST = Duration(60)


def sent_packets(count: int) -> TransmitWindow:
    window = TransmitWindow(7)
    for _ in range(count):
        window.add(SentPacket(b"x", None, False, START))
    return window


def test_a_number_waits_for_one_repair_however_many_naks_name_it() -> None:
    repairs, window = RepairRequests(), sent_packets(3)
    repairs.add([7, 8], window, LONGEST, START)
    repairs.add([8], window, LONGEST, START)
    assert (repairs.naks, len(repairs.due), repairs.lowest) == (2, 2, 7)
    assert {repairs.take(), repairs.take()} == {7, 8}
    assert (repairs.sent, repairs.in_a_row, repairs.lowest, repairs.due) == (2, 2, None, [])


def test_an_older_nak_is_repaired_first() -> None:
    repairs, window = RepairRequests(), sent_packets(3)
    repairs.add([9], window, LONGEST, Instant(1000))
    repairs.add([8], window, LONGEST, START)
    assert (repairs.take(), repairs.lowest) == (8, 9)


def test_a_packet_may_be_repaired_again() -> None:
    repairs, window = RepairRequests(), sent_packets(1)
    for _ in range(2):
        repairs.add([7], window, LONGEST, START)
        assert repairs.take() == 7
    assert repairs.sent == 2


def test_all_repairs_are_forgotten() -> None:
    repairs, window = RepairRequests(), sent_packets(2)
    repairs.add([7, 8], window, LONGEST, START)
    repairs.clear()
    assert (repairs.due, repairs.lowest) == ([], None)
