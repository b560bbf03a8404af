"""HTTPR as a protocol beside the manager: what it claims is what its machine handles."""

from __future__ import annotations

from reliquary.base.turn import Effect
from reliquary.protocols.httpr import effects, machine
from reliquary.protocols.httpr.protocol import httpr
from reliquary.protocols.httpr.tables import TABLES

PROTOCOL = httpr()


def test_it_takes_what_its_machine_has_rules_for() -> None:
    assert (PROTOCOL.hears, PROTOCOL.takes) == (machine.HEARS, machine.TAKES)
    assert (PROTOCOL.timers, PROTOCOL.tables) == (machine.TIMERS, TABLES)
    assert PROTOCOL.carrier is not None


def test_each_of_its_effects_is_answered_where_there_is_no_network() -> None:
    defined = {
        each
        for each in vars(effects).values()
        if isinstance(each, type) and issubclass(each, Effect) and each.__module__ == effects.__name__
    }
    assert set(PROTOCOL.unplugged) == defined
