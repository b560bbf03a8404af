"""Keeps a log short: of one thing at most once a minute, with how often it happened.

    about "client 10.0.0.1", what "refused with 400", why "there is no queue 'a'"    one thing
                                                     why "there is no queue 'b'"    another one

Each cause is a thing of its own, so that no cause hides behind another.  A peer that makes up causes is
bounded: beyond CAUSES of them in a minute the rest is counted together, and so is what is beyond KEPT things.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from reliquary.base.time import MINUTE

CAUSES: Final = 50
"""Causes of one kind that are told apart in a minute."""
KEPT: Final = 10_000
"""Things that are remembered."""
LONGEST: Final = 2_000
"""Characters of a cause; the rest of a longer one is left out."""
OTHERS: Final = "other causes"
MANY: Final = ("warnings", "were too many", "there are more different ones than are told apart")

Key = tuple[str, str, str]


class Due(NamedTuple):
    """A thing to tell now."""

    about: str
    what: str
    why: str
    times: int
    """How often it happened since it was told last."""


@dataclass(slots=True)
class _Told:
    """When a thing was told, and how often it happened since."""

    at: int
    untold: int = 0


class Throttle:
    """What was told in the last minute.  Time is microseconds of the clock that never jumps."""

    __slots__ = ("_causes", "_told", "_waiting")

    def __init__(self) -> None:
        self._told: dict[Key, _Told] = {}
        """In the order in which they were told."""
        self._causes: dict[tuple[str, str], int] = {}
        """How many of them there are for each kind."""
        self._waiting = 0

    @property
    def waiting(self) -> bool:
        """Whether something happened that was not told yet."""
        return self._waiting > 0

    def add(self, about: str, what: str, why: str, count: int, now: int) -> list[Due]:
        """Note that a thing happened; the answer is what is to be told now."""
        key = (about, what, why[:LONGEST])
        known = self._told.get(key)
        if known is not None and now - known.at < MINUTE:
            self._note(known, count)
            return self.overdue(now)
        count += self._forget(key)
        due = self.overdue(now)
        key = self._with_room(key)
        if key in self._told:
            self._note(self._told[key], count)
            return due
        self._enter(key, now)
        return [Due(*key, count), *due]

    def overdue(self, now: int) -> list[Due]:
        """Return what happened again and was told a minute ago or earlier; forget what did not."""
        due: list[Due] = []
        while self._told:
            key, told = next(iter(self._told.items()))
            if now - told.at < MINUTE:
                break
            untold = self._forget(key)
            if untold:
                due.append(Due(*key, untold))
        for each in due:
            self._enter(each[:3], now)
        return due

    def _with_room(self, key: Key) -> Key:
        """Return the key itself, or one under which the many are counted together."""
        about, what, _ = key
        if self._causes.get((about, what), 0) >= CAUSES:
            key = (about, what, OTHERS)
        return MANY if key not in self._told and len(self._told) >= KEPT else key

    def _note(self, told: _Told, count: int) -> None:
        self._waiting += not told.untold
        told.untold += count

    def _enter(self, key: Key, now: int) -> None:
        self._told[key] = _Told(now)
        self._causes[key[:2]] = self._causes.get(key[:2], 0) + 1

    def _forget(self, key: Key) -> int:
        """Remove a thing; the answer is how often it happened since it was told."""
        told = self._told.pop(key, None)
        if told is None:
            return 0
        kind = key[:2]
        self._causes[kind] -= 1
        if not self._causes[kind]:
            del self._causes[kind]
        self._waiting -= bool(told.untold)
        return told.untold
