"""A receiver and its sessions: who is followed, and who is forgotten."""

from __future__ import annotations

import pytest

from reliquary.base.time import SECOND, Instant
from reliquary.protocols.pgm.actions import Action, Deliver
from reliquary.protocols.pgm.receiver import Receiver
from reliquary.protocols.pgm.settings import PgmSettings
from reliquary.wire.pgm.options import Reset
from reliquary.wire.pgm.packets import Data, Kind, Nak, Packet, Spm, Tsi
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


def test_sources_are_followed_each_in_its_own_numbers() -> None:
    who = receiver()
    assert hear(who, data(1, 60, b"a")) == [Deliver(tsi(1), b"a")]
    assert hear(who, data(2, 900, b"b")) == [Deliver(tsi(2), b"b")]
    assert hear(who, data(1, 61, b"c")) == [Deliver(tsi(1), b"c")]
    assert hear(who, data(2, 900, b"b")) == []
    assert who.shared.duplicates == 1


@pytest.mark.parametrize(
    "packet",
    [
        pytest.param(data(1, 60, repair=True), id="a repair"),
        pytest.param(Nak(Kind.NCF, tsi(1), PORT, (60,), "10.0.0.1", GROUP), id="an NCF"),
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


def test_no_more_sources_than_allowed_are_followed_while_they_live() -> None:
    who = receiver(PgmSettings(most_sessions=2))
    hear(who, data(1, 60))
    hear(who, data(2, 60), START + 30 * SECOND)
    assert hear(who, data(3, 60), START + 40 * SECOND) == []
    assert who.refused == 1
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
