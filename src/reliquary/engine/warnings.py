"""Warnings for whoever looks after the system: of one thing once a minute, with how often it was."""

from __future__ import annotations

import logging
from typing import Final

from reliquary.base.time import MINUTE
from reliquary.base.turn import Warn

KEPT: Final = 10_000
"""Things that are remembered; past this, those of which nothing more was heard are forgotten."""

_log = logging.getLogger("reliquary")


class Warnings:
    """What was warned of, when, and how often it happened since."""

    def __init__(self) -> None:
        self._told: dict[tuple[str, str], int] = {}
        """When it was last told, in microseconds of the clock that never jumps."""
        self._unsaid: dict[tuple[str, str], int] = {}
        """How often it happened since."""

    def tell(self, warning: Warn, now: int) -> None:
        """Log it, unless the same was said less than a minute ago."""
        key = (warning.about, warning.what)
        count = self._unsaid.pop(key, 0) + warning.count
        last = self._told.get(key)
        if last is not None and now - last < MINUTE:
            self._unsaid[key] = count
            return
        if len(self._told) >= KEPT:
            self._told = {each: at for each, at in self._told.items() if now - at < MINUTE}
        self._told[key] = now
        _log.warning("%s: %s %d times: %s", warning.about, warning.what, count, warning.why)
