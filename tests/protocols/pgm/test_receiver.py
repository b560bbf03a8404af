"""Tests a receiver and its sessions: who is followed, and who is forgotten."""

from __future__ import annotations

from collections import Counter

import pytest

from reliquary.base.time import SECOND, Instant
from reliquary.protocols.pgm.actions import Action, Deliver, Lost, Reason, Restarted, Unicast, Unused
from reliquary.protocols.pgm.budget import SHARE
from reliquary.protocols.pgm.receiver import NAKS_AT_ONCE, Receiver
from reliquary.protocols.pgm.settings import PgmSettings
from reliquary.wire.pgm.options import Reset
from reliquary.wire.pgm.packets import Data, Nak, Packet, PgmPacketType, Spm, Tsi
from reliquary.wire.pgm.serial import MASK
from tests.protocols.pgm.pgm_network import GROUP, PORT, SeededChance

START = Instant(1_000_000)


def tsi(number: int) -> Tsi:
    return Tsi(b"source", number)


def receiver(settings: PgmSettings | None = None) -> Receiver:
    return Receiver(GROUP, PORT, settings or PgmSettings(), SeededChance(1))


def hear(who: Receiver, packet: Packet, now: int = START) -> list[Action]:
    return who.hear(packet, "10.0.0.1", Instant(now)).actions


def data(source: int, number: int, payload: bytes = b"x", **more: object) -> Data:
    return Data(tsi(source), PORT, number, min(number, 50), payload, **more)  # type: ignore[arg-type]


def spm(source: int, number: int, trail: int, lead: int, **more: object) -> Spm:
    trail, lead = trail & MASK, lead & MASK
    return Spm(tsi(source), PORT, number, trail, lead, "10.0.0.1", **more)  # type: ignore[arg-type]


def test_sources_are_followed_each_in_its_own_numbers() -> None:
    who = receiver()
    assert hear(who, data(1, 60, b"a")) == [Deliver(tsi(1), b"a")]
    assert hear(who, data(2, 900, b"b")) == [Deliver(tsi(2), b"b")]
    assert hear(who, data(1, 61, b"c")) == [Deliver(tsi(1), b"c")]
    assert hear(who, data(2, 900, b"b")) == [Unused(tsi(2), Reason.DUPLICATE)]


@pytest.mark.parametrize(
    "packet",
    [
        pytest.param(data(1, 60, repair=True), id="a repair"),
        pytest.param(Nak(PgmPacketType.NCF, tsi(1), PORT, (60,), "10.0.0.1", GROUP), id="an NCF"),
        pytest.param(Spm(tsi(1), PORT, 1, 0, 0x80000000, "10.0.0.1"), id="an SPM without a window"),
        pytest.param(Spm(tsi(1), PORT, 1, 5, 9, "10.0.0.1", reset=Reset()), id="an SPM that breaks off"),
    ],
)
def test_some_packets_begin_no_session(packet: Packet) -> None:
    who = receiver()
    assert hear(who, packet) == []
    assert who.sessions == {}


def test_a_source_that_begins_anew_is_a_new_session() -> None:
    who = receiver()
    hear(who, data(1, 60))
    assert hear(who, data(2, 1, b"new")) == [Deliver(tsi(2), b"new")]
    assert len(who.sessions) == 2


def test_the_number_of_followed_active_sources_is_limited() -> None:
    who = receiver(PgmSettings(most_sessions=2))
    hear(who, data(1, 60))
    hear(who, data(2, 60), START + 30 * SECOND)
    assert hear(who, spm(3, 1, 50, 59), START + 40 * SECOND) == []
    assert hear(who, data(3, 60), START + 40 * SECOND) == [Unused(tsi(3), Reason.IGNORED)]
    assert hear(who, data(3, 61, b"y"), START + 46 * SECOND) == [Deliver(tsi(3), b"y")]
    assert set(who.sessions) == {tsi(2), tsi(3)}


def test_a_source_that_is_silent_for_a_window_is_forgotten() -> None:
    who = receiver()
    hear(who, data(1, 60))
    wake = who.hear(data(1, 62), "10.0.0.1", START).wake
    assert wake == START + 300 * SECOND  # no SPM came yet, so nothing is asked for
    assert who.shared.buffered == 1
    step = who.wake(Instant(START + 300 * SECOND))
    assert (step.wake, who.sessions, who.shared.buffered) == (None, {}, 0)


# -- sources that begin anew under an identifier that was known


HOUR = 3600 * SECOND


def forgotten_at(who: Receiver, **last: object) -> Receiver:
    """Return a receiver whose source has sent the numbers up to 60, and nothing for an hour."""
    hear(who, spm(1, 700, 50, 59))
    hear(who, data(1, 60))
    if last:
        hear(who, spm(1, 701, 50, 60, **last))
    for later in range(1, 4):
        who.wake(Instant(START + later * 300 * SECOND))
    assert who.sessions == {}
    return who


def test_a_forgotten_source_that_restarts_is_followed_from_its_first_number_on() -> None:
    who = forgotten_at(receiver())
    assert hear(who, data(1, 0, b"new"), START + HOUR) == [Deliver(tsi(1), b"new")]


def test_a_forgotten_source_that_restarts_with_an_spm_is_followed_from_its_first_number_on() -> None:
    who = forgotten_at(receiver())
    assert hear(who, spm(1, 0, 0, -1), START + HOUR) == []
    assert hear(who, data(1, 0, b"new"), START + HOUR) == [Deliver(tsi(1), b"new")]


def test_a_forgotten_source_that_goes_on_is_informed_what_was_lost() -> None:
    who = forgotten_at(receiver())
    packet = Data(tsi(1), PORT, 63, 63, b"later")
    lost = Lost(tsi(1), 61, 2, "the source does not keep it any more")
    assert hear(who, packet, START + HOUR) == [lost, Deliver(tsi(1), b"later")]


@pytest.mark.parametrize("last", [{"fin": True}, {"reset": Reset()}], ids=["FIN", "RST"])
def test_the_place_of_a_source_that_ended_is_not_remembered(last: dict[str, object]) -> None:
    who = forgotten_at(receiver(), **last)
    packet = Data(tsi(1), PORT, 63, 63, b"new")
    assert hear(who, packet, START + HOUR) == [Deliver(tsi(1), b"new")]


@pytest.mark.parametrize(
    "last", [{}, {"fin": True}, {"reset": Reset()}], ids=["silent", "after FIN", "after RST"]
)
def test_a_source_that_begins_anew_while_it_is_followed_loses_nothing(last: dict[str, object]) -> None:
    who = receiver()
    hear(who, spm(1, 700, 50, 59))
    hear(who, data(1, 60))
    if last:
        hear(who, spm(1, 701, 50, 60, **last))
    now = START + 5 * SECOND
    assert hear(who, spm(1, 0, 0, -1), now) == []
    (unused,) = hear(who, data(1, 0, b"new"), now)
    assert isinstance(unused, Unused)
    assert hear(who, spm(1, 1, 0, 0), now + SECOND // 2) == [Restarted(tsi(1))]
    asking = who.wake(Instant(now + SECOND)).actions
    assert [nak.packet.numbers for nak in asking if isinstance(nak, Unicast)] == [(0,)]
    repair = data(1, 0, b"new", repair=True)
    assert hear(who, repair, now + SECOND) == [Deliver(tsi(1), b"new")]
    assert hear(who, data(1, 1, b"next"), now + SECOND) == [Deliver(tsi(1), b"next")]


def test_missing_packets_of_a_restarted_source_are_reported_as_lost() -> None:
    who = receiver()
    hear(who, spm(1, 700, 50, 59))
    hear(who, data(1, 62))
    now = START + 5 * SECOND
    hear(who, spm(1, 0, 0, -1), now)
    reported = hear(who, spm(1, 1, 0, -1), now + SECOND)
    assert reported == [Lost(tsi(1), 60, 3, "the source was restarted"), Restarted(tsi(1))]
    assert who.shared.buffered == 0


def test_a_source_that_began_anew_and_broke_off_at_once_is_followed_no_more() -> None:
    who = receiver()
    hear(who, spm(1, 700, 50, 59))
    hear(who, spm(1, 0, 0, -1), START + 5 * SECOND)
    assert hear(who, spm(1, 1, 0, -1, reset=Reset()), START + 6 * SECOND) == [Restarted(tsi(1))]
    assert who.sessions == {}


def test_data_waits_while_it_may_belong_to_a_source_that_began_anew() -> None:
    who = receiver()
    hear(who, spm(1, 700, 50, 59))
    hear(who, spm(1, 2, 50, 59), START + 5 * SECOND)
    assert hear(who, data(1, 60, b"a"), START + 5 * SECOND) == [Unused(tsi(1), Reason.DEFERRED)]
    hear(who, spm(1, 701, 50, 60), START + 6 * SECOND)
    repair = data(1, 60, b"a", repair=True)
    assert hear(who, repair, START + 6 * SECOND) == [Deliver(tsi(1), b"a")]


def test_a_newer_spm_after_rst_begins_another_session() -> None:
    who = receiver()
    hear(who, spm(1, 700, 50, 59))
    hear(who, spm(1, 701, 50, 59, reset=Reset()))
    assert hear(who, data(1, 60, b"late")) == [Unused(tsi(1), Reason.DUPLICATE)]
    assert hear(who, spm(1, 702, 50, 60)) == []
    assert hear(who, data(1, 61, b"new")) == [Deliver(tsi(1), b"new")]


# -- invented gaps


def flooded(settings: PgmSettings | None = None) -> Receiver:
    """Return a receiver with 96 packets of 32 false sources: each has a gap of the largest width."""
    who = receiver(settings)
    for source in range(32):
        hear(who, spm(source, 1, 0, 9))
        hear(who, Data(tsi(source), PORT, 16_000, 0, b"x"))
        hear(who, spm(source, 2, 0, 60_000))
    return who


def run(who: Receiver, now: int, seconds: int) -> list[tuple[Instant, Action]]:
    """Wake the receiver whenever it wants; what it did, and when."""
    done: list[tuple[Instant, Action]] = []
    wake: Instant | None = Instant(now)
    while wake is not None and wake <= now + seconds * SECOND:
        step = who.wake(wake)
        done += [(wake, action) for action in step.actions]
        assert len(step.actions) < 100, "other work is done in between"
        wake = step.wake
    return done


def test_made_up_gaps_are_bounded_over_all_sessions() -> None:
    who = flooded()
    assert 16_384 <= who.shared.budget.missing <= 16_384 + 31 * SHARE
    naks = [each for each in run(who, START, 60) if isinstance(each[1], Unicast)]
    assert len(naks) <= 60 * PgmSettings().naks + NAKS_AT_ONCE
    seconds = Counter((moment - START) // SECOND for moment, _ in naks)
    assert max(seconds.values()) <= PgmSettings().naks + NAKS_AT_ONCE
    assert {nak.to for _, nak in naks if isinstance(nak, Unicast)} == {"10.0.0.1"}


def test_unanswered_requests_leave_room_for_others() -> None:
    who = flooded()
    run(who, START, 120)
    assert who.shared.budget.missing == 0


def test_a_real_gap_is_asked_for_between_made_up_ones() -> None:
    who = flooded()
    hear(who, spm(99, 1, 0, 9))
    hear(who, Data(tsi(99), PORT, 12, 0, b"x"))
    assert asks(run(who, START, 10), 99)[0][1] == (10, 11)


def test_naks_go_oldest_first() -> None:
    who = receiver(PgmSettings(naks=1))
    for source in range(20):
        hear(who, spm(source, 1, 0, 9), START + source * SECOND)
        hear(who, Data(tsi(source), PORT, 11, 0, b"x"), START + source * SECOND)
    done = run(who, START + 20 * SECOND, 10)
    first = [nak.packet.tsi.port for _, nak in done if isinstance(nak, Unicast)]
    assert first == list(range(20))


def test_a_receiver_that_is_closed_misses_nothing() -> None:
    who = flooded()
    who.close()
    assert (who.shared.budget.missing, who.shared.buffered, who.sessions) == (0, 0, {})


def asks(done: list[tuple[Instant, Action]], source: int) -> list[tuple[Instant, tuple[int, ...]]]:
    """Return when a source was asked, and for which numbers."""
    return [
        (moment, action.packet.numbers)
        for moment, action in done
        if isinstance(action, Unicast) and action.packet.tsi == tsi(source)
    ]
