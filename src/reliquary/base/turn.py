"""The central interface: a machine takes an event and `now`, and returns a `Turn`.

    event, now --> machine --> Turn(facts, signals, effects)
                                |        |        |
        written to disk --------'        |        '-- performed after the write: replies, timers
        before effects leave             '-- sent to the other machines in this turn,
                                             their facts join this write

The engine collects the turns of a batch, writes what they staged in one store batch with one
sync, and only then performs the effects.  Machines do no I/O, read no clock and draw no random
number, so a seed repeats a run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar, Final, Protocol

import msgspec

from reliquary.base.time import Duration, Instant


class Event(msgspec.Struct, frozen=True, gc=False):
    """Something that happened outside the machine; its name is in the past tense, or is that of a request."""


class Fact(msgspec.Struct, frozen=True, gc=False):
    """A change of the state that this turn made; its name is a sentence in the past tense."""

    @property
    def volatile(self) -> bool:
        """Return whether a crash may lose this fact, so that no answer has to wait for the disk."""
        return False


class Signal(msgspec.Struct, frozen=True, gc=False):
    """A notice from one machine to the others inside the turn."""


class DirectedSignal(Signal, frozen=True, gc=False):
    """A signal for exactly one machine."""

    to: str
    """The name of that machine."""


class Effect(msgspec.Struct, frozen=True, gc=False):
    """An action outside the machine, performed when the facts are on disk; its name is an imperative."""

    waits_for_disk: ClassVar[bool] = True
    """Whether the effect is performed after the sync of its turn.

    It need not wait if it stays inside the process, or shows only what was on disk before its turn.
    """


class Reply(Effect, frozen=True, gc=False):
    """Answer the caller that has the number `to`."""

    to: int
    answer: object


class SetTimer(Effect, frozen=True, gc=False):
    """Send `TimerFired` to the machine after this time.  A second timer of this name replaces the first.

    The engine counts `after` on a clock that never jumps; a machine that waits for a moment of
    the calendar asks again when it is woken too early.
    """

    waits_for_disk = False
    name: TimerName
    after: Duration
    calendar: bool = False
    """`after` ends at a moment of the calendar: the timer also fires when the calendar is set forward."""


class CancelTimer(Effect, frozen=True, gc=False):
    """Cancel a timer; a timer that is not set is no error."""

    waits_for_disk = False
    name: TimerName


class Continue(Effect, frozen=True, gc=False):
    """Give this event to the machine again in a later turn, so that long work does not delay other events."""

    waits_for_disk = False
    event: Event


class ContinueAfterSync(Effect, frozen=True, gc=False):
    """Give this event to the machine again once all that this turn has written is on disk."""

    event: Event


class ContinueBesideSync(Effect, frozen=True, gc=False):
    """Begin the sync of this turn in the store's thread, and hand this event back while the sync runs.

    For a machine that expects more work before the sync ends; if a sync runs already, both wait for its end.
    """

    waits_for_disk = False
    event: Event


class Warn(Effect, frozen=True, gc=False):
    """Log a warning for the administrator, per cause at most once a minute."""

    about: str
    """The object that the warning is about, for example a queue."""
    what: str
    """The problem in a few words; the words are constant, because they identify the cause."""
    why: str
    count: int = 1
    """How often the problem occurred in this turn."""


class TimerFired(Event, frozen=True, gc=False):
    """The timer of this name fired."""

    name: TimerName


TimerName = tuple[str, int]
"""The purpose of the timer and the number of the object that it belongs to."""


class Turn(msgspec.Struct, frozen=True, gc=False):
    """The result of one event: facts, signals and effects."""

    facts: tuple[Fact, ...] = ()
    """Changes that are on disk before the effect of a signal or an effect is visible outside."""
    signals: tuple[Signal, ...] = ()
    """Sent to the other machines in this turn: their facts join the write."""
    effects: tuple[Effect, ...] = ()
    """The answers, sends and timers that the turn asks for."""
    waits: bool = False
    """Whether the answer waits for the disk even without facts: it shows data that earlier turns made
    durable.
    """


NOTHING: Final = Turn()
"""The turn of a rule that produced nothing."""


class Machine(Protocol):
    """The interface of a state machine that the engine runs."""

    def handle(self, event: Event, now: Instant) -> Turn:
        """Apply one event; return the facts, signals and effects that follow from it."""

    def on_signal(self, signal: Signal, now: Instant) -> Turn:
        """Take one signal of another machine, inside that machine's turn."""

    def settle(self) -> None:
        """Stage rows that are written once per batch and not once per turn, for example counters."""


class Draft:
    """Collects the facts, signals and effects of a turn while its rules run.

    Its lists live as long as the draft, so rules call `append` directly, without a Python function between.
    """

    __slots__ = ("_effects", "_facts", "_signals", "_waits", "ask", "signal", "state")

    def __init__(self) -> None:
        self._facts: list[Fact] = []
        self._signals: list[Signal] = []
        self._effects: list[Effect] = []
        self._waits = False
        self.state: Final[Callable[[Fact], None]] = self._facts.append
        """Add a fact; the caller has applied it to the state."""
        self.signal: Final[Callable[[Signal], None]] = self._signals.append
        """Add a signal to the turn; other machines receive it before the turn ends."""
        self.ask: Final[Callable[[Effect], None]] = self._effects.append
        """Add an effect to the turn; the engine performs effects after the facts are on disk."""

    def wait(self) -> None:
        """Make the answers wait for the disk, even if all facts are volatile."""
        self._waits = True

    @property
    def has_facts(self) -> bool:
        """Return whether a fact was added, volatile ones included."""
        return bool(self._facts)

    def take(self) -> Turn:
        """Return the finished turn; the draft is empty afterwards."""
        facts, signals, effects = self._facts, self._signals, self._effects
        if not (facts or signals or effects or self._waits):
            return NOTHING
        turn = Turn(tuple(facts), tuple(signals), tuple(effects), self._waits)
        facts.clear()
        effects.clear()
        if signals:
            signals.clear()
        self._waits = False
        return turn
