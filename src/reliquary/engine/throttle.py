"""Limits repeated log entries: one entry for a cause in a minute, with the number of repeats.

    about "client 10.0.0.1", what "refused with 400", why "there is no queue 'a'"    one entry
                                                     why "there is no queue 'b'"    another entry

Each cause has its own entry, so that a frequent cause does not hide a rare one.  The number of entries is
limited, because a peer can invent causes: all causes of one kind after the first CAUSES in a minute share one
entry, and so do all entries after the first KEPT.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from reliquary.base.time import MINUTE

CAUSES: Final = 50
"""The largest number of causes of one kind that have their own entries in a minute."""
KEPT: Final = 10_000
"""The largest number of entries that are remembered."""
LONGEST: Final = 2_000
"""The largest number of characters of a cause; the rest of a longer text is cut off."""
OTHERS: Final = "other causes"
MANY: Final = ("warnings", "were too many", "there are too many different warnings to log each by itself")

Key = tuple[str, str, str]


class Due(NamedTuple):
    """An entry that the caller has to log now."""

    about: str
    what: str
    why: str
    times: int
    """The number of times that it happened since it was last logged."""


@dataclass(slots=True)
class _Logged:
    """The time at which an entry was logged, and the number of repeats since then."""

    at: int
    suppressed: int = 0


class Throttle:
    """The entries that were logged in the last minute; times are microseconds of a monotonic clock."""

    __slots__ = ("_causes", "_logged", "_waiting")

    def __init__(self) -> None:
        self._logged: dict[Key, _Logged] = {}
        """The entries by their keys, the one that was logged first at the beginning."""
        self._causes: dict[tuple[str, str], int] = {}
        """The number of entries for each kind, which is the pair of `about` and `what`."""
        self._waiting = 0

    @property
    def waiting(self) -> bool:
        """Return whether there are repeats that were not logged yet."""
        return self._waiting > 0

    def add(self, about: str, what: str, why: str, count: int, now: int) -> list[Due]:
        """Count that this happened `count` times, and return the entries that the caller has to log now."""
        key = (about, what, why[:LONGEST])
        known = self._logged.get(key)
        if known is not None and now - known.at < MINUTE:
            self._note(known, count)
            return self.overdue(now)
        count += self._forget(key)
        due = self.overdue(now)
        key = self._with_room(key)
        if key in self._logged:
            self._note(self._logged[key], count)
            return due
        self._enter(key, now)
        return [Due(*key, count), *due]

    def overdue(self, now: int) -> list[Due]:
        """Return repeated entries that were logged a minute ago or earlier; remove those without repeats."""
        due: list[Due] = []
        while self._logged:
            key, logged = next(iter(self._logged.items()))
            if now - logged.at < MINUTE:
                break
            suppressed = self._forget(key)
            if suppressed:
                due.append(Due(*key, suppressed))
        for each in due:
            self._enter(each[:3], now)
        return due

    def _with_room(self, key: Key) -> Key:
        """Return the key, or when there are too many entries, the key of the entry that they share."""
        about, what, _ = key
        if self._causes.get((about, what), 0) >= CAUSES:
            key = (about, what, OTHERS)
        return MANY if key not in self._logged and len(self._logged) >= KEPT else key

    def _note(self, logged: _Logged, count: int) -> None:
        self._waiting += not logged.suppressed
        logged.suppressed += count

    def _enter(self, key: Key, now: int) -> None:
        self._logged[key] = _Logged(now)
        self._causes[key[:2]] = self._causes.get(key[:2], 0) + 1

    def _forget(self, key: Key) -> int:
        """Remove an entry, and return the number of its repeats that were not logged."""
        logged = self._logged.pop(key, None)
        if logged is None:
            return 0
        kind = key[:2]
        self._causes[kind] -= 1
        if not self._causes[kind]:
            del self._causes[kind]
        self._waiting -= bool(logged.suppressed)
        return logged.suppressed
