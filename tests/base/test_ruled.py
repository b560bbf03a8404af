"""Tests that each event, signal and timer goes to its rule, and that the turn has what the rule wrote."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from reliquary.base.ruled import Ruled
from reliquary.base.time import Instant
from reliquary.base.turn import Draft, Event, Fact, Signal, TimerFired

NOW = Instant(7)


class Asked(Event, frozen=True):
    """An event that the rules of this test take."""


class Notified(Signal, frozen=True):
    """A signal that the rules of this test take."""


class Noted(Fact, frozen=True):
    """Records the arguments of a rule."""

    what: object
    now: Instant


@dataclass
class Notes:
    """The state of the machine, which has only the turn."""

    draft: Draft = field(default_factory=Draft)


def note(state: Notes, what: object, now: Instant) -> None:
    """State a fact that records the call of this rule."""
    state.draft.state(Noted(what, now))


MACHINE = Ruled(Notes(), {Asked: note}, {Notified: note}, {"tick": note})


def test_each_event_signal_and_timer_goes_to_its_rule() -> None:
    assert MACHINE.handle(Asked(), NOW).facts == (Noted(Asked(), NOW),)
    assert MACHINE.on_signal(Notified(), NOW).facts == (Noted(Notified(), NOW),)
    assert MACHINE.handle(TimerFired(("tick", 3)), NOW).facts == (Noted(3, NOW),)


def test_an_event_without_a_rule_is_a_programming_error() -> None:
    with pytest.raises(KeyError):
        MACHINE.handle(TimerFired(("tock", 3)), NOW)
    with pytest.raises(KeyError):
        MACHINE.on_signal(Signal(), NOW)


def test_every_rule_is_followed_by_the_end_of_the_turn() -> None:
    class Ending(Ruled[Notes]):
        def finish(self, now: Instant) -> None:
            self.state.draft.state(Noted("end", now))

    machine = Ending(Notes(), {Asked: note}, {Notified: note}, {"tick": note})
    end = Noted("end", NOW)
    assert machine.handle(Asked(), NOW).facts == (Noted(Asked(), NOW), end)
    assert machine.on_signal(Notified(), NOW).facts == (Noted(Notified(), NOW), end)
    assert machine.handle(TimerFired(("tick", 3)), NOW).facts == (Noted(3, NOW), end)
