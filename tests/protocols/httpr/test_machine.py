"""Each event, signal and timer has its rule."""

from __future__ import annotations

import inspect

from reliquary.base.turn import Event
from reliquary.protocols.httpr import events, machine


def test_every_event_has_a_rule() -> None:
    known = {each for _, each in inspect.getmembers(events, inspect.isclass) if issubclass(each, Event)}
    assert known - {Event} == set(machine.TAKES)
