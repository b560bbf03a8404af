"""Logs warnings for administrators: each cause at most once a minute, with the number of repeats."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final

from reliquary.base.time import MINUTE
from reliquary.base.turn import Warn
from reliquary.engine.throttle import Due, Throttle

LOG: Final = logging.getLogger("reliquary")


class Warnings:
    """Logs warnings, and counts the repeats of those that were logged less than a minute ago."""

    def __init__(self) -> None:
        self._throttle = Throttle()

    @property
    def waiting(self) -> bool:
        """Return whether there are repeats that were not logged yet."""
        return self._throttle.waiting

    def report(self, warning: Warn, now: int) -> None:
        """Log a warning, or count it if its cause was logged less than a minute ago."""
        _log(self._throttle.add(warning.about, warning.what, warning.why, warning.count, now))

    def remind(self, now: int) -> None:
        """Log the warnings that were repeated and were last logged a minute ago or earlier."""
        _log(self._throttle.overdue(now))

    def report_all(self, now: int) -> None:
        """Log all repeats that were not logged yet, because the engine stops."""
        _log(self._throttle.overdue(now + MINUTE))


def _log(due: Iterable[Due]) -> None:
    for each in due:
        LOG.warning("%s: %s %d times: %s", each.about, each.what, each.times, each.why, extra={"due": each})
