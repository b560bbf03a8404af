"""Tests SRMP as a protocol beside the manager: what it claims is what its machine handles."""

from __future__ import annotations

from reliquary.protocols.srmp import effects, machine
from reliquary.protocols.srmp.protocol import srmp
from reliquary.protocols.srmp.tables import TABLES
from tests.protocols.protocol_bench import effects_of

PROTOCOL = srmp()


def test_the_protocol_takes_the_events_of_its_machine() -> None:
    assert (PROTOCOL.signals, PROTOCOL.takes) == (machine.SIGNALS, machine.TAKES)
    assert (PROTOCOL.timers, PROTOCOL.tables) == (machine.TIMERS, TABLES)
    assert PROTOCOL.carrier is not None


def test_every_effect_is_answered_without_a_network() -> None:
    assert set(PROTOCOL.unplugged) == effects_of(effects)
