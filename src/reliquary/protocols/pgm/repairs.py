"""Recovers packets that a receiver misses, RFC 3208 6.3.

         missed              timer: send a NAK            NCF
    ---------------> BACK_OFF ---------------> WAIT_NCF --------> WAIT_DATA
                      |  ^  ^     or another's    |                 |  ^ |
                      |  |  '--- timer: again ----'                 |  '-' NCF, NAK: wait anew
                      |  '---------- timer: again ------------------'
                      '-- NCF --> WAIT_DATA
    in any state:   the packet comes -> RECOVERED     its number leaves the window -> LOST
                    the timer runs out after the last retry -> LOST

The pause before a NAK is random, so that only few of many receivers request a packet. It also lets
reordered packets arrive before a receiver asks.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from enum import Enum
from heapq import heapify, heappop, heappush
from itertools import takewhile
from typing import Final

from reliquary.base.chance import Chance
from reliquary.base.time import Duration, Instant, later
from reliquary.protocols.pgm.budget import Budget
from reliquary.protocols.pgm.settings import PgmSettings
from reliquary.wire.pgm.options import MOST_LISTED

TIMERS_AT_ONCE: Final = 250
"""Timers that are examined at a time: less than a millisecond of work."""


class RepairState(Enum):
    """The state of the repair of one packet."""

    BACK_OFF = "back-off"
    WAIT_NCF = "wait-ncf"
    WAIT_DATA = "wait-data"
    RECOVERED = "recovered"
    LOST = "lost"


class RepairEvent(Enum):
    """The events of a repair."""

    TIMER = "timer"
    LAST_TIMER = "last-timer"
    """The timer fired, and no retry is left."""
    NAK = "nak"
    """Another receiver requests the packet."""
    NCF = "ncf"
    DATA = "data"
    PASSED = "passed"
    """The window of the source does not contain the packet any more."""


class Act(Enum):
    """The action that goes with a change of the state."""

    NOTHING = "nothing"
    SEND_NAK = "send-nak"
    COUNT_NCF = "count-ncf"
    """Count one more retry without an NCF."""
    COUNT_DATA = "count-data"
    """Count one more retry without the packet."""


_GOING_ON: Final = (RepairState.BACK_OFF, RepairState.WAIT_NCF, RepairState.WAIT_DATA)

NEXT: Final[Mapping[tuple[RepairState, RepairEvent], tuple[RepairState, Act]]] = {
    (RepairState.BACK_OFF, RepairEvent.TIMER): (RepairState.WAIT_NCF, Act.SEND_NAK),
    (RepairState.BACK_OFF, RepairEvent.LAST_TIMER): (RepairState.WAIT_NCF, Act.SEND_NAK),  # the last try
    # The text (NAK suppression) would wait NAK_RDATA_IVL here; the drawing waits for the NCF, which
    # finds earlier that the NAK of the other receiver was lost.
    (RepairState.BACK_OFF, RepairEvent.NAK): (RepairState.WAIT_NCF, Act.NOTHING),
    (RepairState.BACK_OFF, RepairEvent.NCF): (RepairState.WAIT_DATA, Act.NOTHING),
    (RepairState.WAIT_NCF, RepairEvent.TIMER): (RepairState.BACK_OFF, Act.COUNT_NCF),
    (RepairState.WAIT_NCF, RepairEvent.LAST_TIMER): (RepairState.LOST, Act.NOTHING),
    (RepairState.WAIT_NCF, RepairEvent.NAK): (RepairState.WAIT_NCF, Act.NOTHING),
    (RepairState.WAIT_NCF, RepairEvent.NCF): (RepairState.WAIT_DATA, Act.NOTHING),
    (RepairState.WAIT_DATA, RepairEvent.TIMER): (RepairState.BACK_OFF, Act.COUNT_DATA),
    (RepairState.WAIT_DATA, RepairEvent.LAST_TIMER): (RepairState.LOST, Act.NOTHING),
    (RepairState.WAIT_DATA, RepairEvent.NAK): (RepairState.WAIT_DATA, Act.NOTHING),
    (RepairState.WAIT_DATA, RepairEvent.NCF): (RepairState.WAIT_DATA, Act.NOTHING),
    **{(stage, RepairEvent.DATA): (RepairState.RECOVERED, Act.NOTHING) for stage in _GOING_ON},
    **{(stage, RepairEvent.PASSED): (RepairState.LOST, Act.NOTHING) for stage in _GOING_ON},
}


class Repair:
    """One packet that is missing."""

    __slots__ = ("data_tries", "due", "ncf_tries", "stage")

    def __init__(self, due: Instant) -> None:
        self.stage = RepairState.BACK_OFF
        self.due = due
        self.ncf_tries = 0
        self.data_tries = 0


class Repairs:
    """All packets that a session misses, by number."""

    def __init__(self, settings: PgmSettings, chance: Chance, budget: Budget) -> None:
        self._settings = settings
        self._chance = chance
        self._budget = budget
        self._missing: dict[int, Repair] = {}
        """Repairs in the order of their numbers, because later gaps always have higher numbers."""
        self._timers: list[tuple[Instant, int]] = []
        """A heap of (time, number); an entry whose repair has another time now is skipped."""

    def __len__(self) -> int:
        return len(self._missing)

    def __contains__(self, number: int) -> bool:
        return number in self._missing

    def miss(self, numbers: Collection[int], now: Instant) -> None:
        """Start the repair of missing numbers; numbers that are found together are requested together."""
        due = later(now, self._back_off())
        self._budget.missing += len(numbers)
        for number in numbers:
            self._missing[number] = Repair(due)
            heappush(self._timers, (due, number))

    def hear(self, number: int, heard: RepairEvent, now: Instant) -> None:
        """Process a packet that concerns a number; nothing happens if the number is not missing."""
        repair = self._missing.get(number)
        if repair is not None:
            self._step(number, repair, heard, now, Duration(0))

    def pass_by(self, trail: int, now: Instant) -> None:
        """Give up all numbers before this one, because the source does not keep them any more."""
        for number in list(takewhile(lambda number: number < trail, self._missing)):
            self.hear(number, RepairEvent.PASSED, now)

    def clear(self) -> None:
        """Stop all repairs, and cancel their timers."""
        self._budget.missing -= len(self._missing)
        self._missing.clear()
        self._timers.clear()

    def take_due(self, now: Instant) -> tuple[list[int], list[int]]:
        """Return the numbers whose timers expired first: those to request in a NAK, and those to give up.

        More may be due: as long as the next timer is due, the caller calls again, and does other work
        in between.
        """
        ask: list[int] = []
        lost: list[int] = []
        back_off = self._back_off() if self._timers and self._timers[0][0] <= now else Duration(0)
        for _ in range(TIMERS_AT_ONCE):
            if not self._timers or self._timers[0][0] > now or len(ask) > MOST_LISTED:
                break
            due, number = heappop(self._timers)
            repair = self._missing.get(number)
            if repair is None or repair.due != due:
                continue
            heard = RepairEvent.LAST_TIMER if self._is_last(repair) else RepairEvent.TIMER
            if self._step(number, repair, heard, now, back_off) is Act.SEND_NAK:
                ask.append(number)
            elif repair.stage is RepairState.LOST:
                lost.append(number)
        return sorted(ask), sorted(lost)

    def next_due(self) -> Instant | None:
        """Return when the next timer expires."""
        timers = self._timers
        while timers:
            due, number = timers[0]
            repair = self._missing.get(number)
            if repair is not None and repair.due == due:
                return due
            heappop(timers)
        return None

    def _is_last(self, repair: Repair) -> bool:
        if repair.stage is RepairState.WAIT_NCF:
            return repair.ncf_tries >= self._settings.ncf_retries
        return repair.stage is RepairState.WAIT_DATA and repair.data_tries >= self._settings.data_retries

    def _step(self, number: int, repair: Repair, heard: RepairEvent, now: Instant, back_off: Duration) -> Act:
        repair.stage, act = NEXT[repair.stage, heard]
        if act is Act.COUNT_NCF:
            repair.ncf_tries += 1
        elif act is Act.COUNT_DATA:
            repair.data_tries += 1
            repair.ncf_tries = 0
        if repair.stage not in _GOING_ON:
            del self._missing[number]
            self._budget.missing -= 1
            self._tidy()
            return act
        span = {
            RepairState.BACK_OFF: back_off,
            RepairState.WAIT_NCF: self._settings.nak_repeat,
            RepairState.WAIT_DATA: self._settings.nak_data,
        }[repair.stage]
        repair.due = later(now, span)
        heappush(self._timers, (repair.due, number))
        return act

    def _tidy(self) -> None:
        """Remove the timers of packets that are not missing any more, before there are many of them."""
        if len(self._timers) > 4 * len(self._missing) + 64:
            self._timers = [(repair.due, number) for number, repair in self._missing.items()]
            heapify(self._timers)

    def _back_off(self) -> Duration:
        """Return NAK_RB_IVL: a random back-off between the two limits of the settings (SR-008)."""
        shortest, longest = self._settings.shortest_back_off, self._settings.longest_back_off
        return Duration(shortest + ((longest - shortest) * self._chance.bits(32) >> 32))
