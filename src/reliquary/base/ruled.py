"""Builds a machine from three tables: a rule for each event, each signal and each timer."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Generic, Protocol, TypeVar

from reliquary.base.time import Instant
from reliquary.base.turn import Draft, Event, Signal, TimerFired, Turn


class Drafting(Protocol):
    """The state of a machine that consists of rules; the rules write the turn into its draft."""

    draft: Draft


State = TypeVar("State", bound=Drafting)
Rule = Callable[[State, Any, Instant], None]
TimerRule = Callable[[State, int, Instant], None]


class Ruled(Generic[State]):
    """Calls the rule of each event, signal and timer; a missing rule is a programming error and raises
    KeyError."""

    def __init__(
        self,
        state: State,
        rules: Mapping[type[Event], Rule[State]],
        signal_rules: Mapping[type[Signal], Rule[State]],
        timers: Mapping[str, TimerRule[State]],
    ) -> None:
        self.state = state
        self._rules = rules
        self._signal_rules = signal_rules
        self._timers = timers
        self._has_end = type(self).finish is not Ruled.finish
        """Whether `finish` is overridden, and so has to be called after every rule."""

    def handle(self, event: Event, now: Instant) -> Turn:
        """Apply the rule of one event; return the facts, signals and effects that it produced."""
        if isinstance(event, TimerFired):
            self._timers[event.name[0]](self.state, event.name[1], now)
        else:
            self._rules[type(event)](self.state, event, now)
        if self._has_end:
            self.finish(now)
        return self.state.draft.take()

    def on_signal(self, signal: Signal, now: Instant) -> Turn:
        """Apply the rule of a signal that another machine sent; return the facts, signals and effects."""
        self._signal_rules[type(signal)](self.state, signal, now)
        if self._has_end:
            self.finish(now)
        return self.state.draft.take()

    def finish(self, now: Instant) -> None:
        """Do the work that follows every rule; a machine that needs this overrides the method."""

    def settle(self) -> None:
        """Do nothing: a machine of rules stages its rows in each turn, and no others at the end of a
        batch."""
