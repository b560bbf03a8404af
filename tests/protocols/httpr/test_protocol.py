"""HTTPR as a protocol beside the manager: what it claims is what its machine handles."""

from __future__ import annotations

from reliquary.protocols.httpr import effects, machine
from reliquary.protocols.httpr.protocol import httpr
from reliquary.protocols.httpr.tables import TABLES
from tests.protocols.protocol_bench import effects_of

PROTOCOL = httpr()


def test_it_takes_what_its_machine_has_rules_for() -> None:
    assert (PROTOCOL.signals, PROTOCOL.takes) == (machine.SIGNALS, machine.TAKES)
    assert (PROTOCOL.timers, PROTOCOL.tables) == (machine.TIMERS, TABLES)
    assert PROTOCOL.carrier is not None


def test_each_of_its_effects_is_answered_where_there_is_no_network() -> None:
    assert set(PROTOCOL.unplugged) == effects_of(effects)
