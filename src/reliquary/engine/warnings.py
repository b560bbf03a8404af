"""Warnings for whoever looks after the system: each cause once a minute, with how often it was."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from typing import Final

from reliquary.base.time import MINUTE
from reliquary.base.turn import Warn
from reliquary.engine.throttle import Due, Throttle

LOG: Final = logging.getLogger("reliquary")


class Warnings:
    """What was warned of, when, and how often it happened since."""

    def __init__(self) -> None:
        self._throttle = Throttle()

    @property
    def waiting(self) -> bool:
        """Whether something happened that was not logged yet."""
        return self._throttle.waiting

    def tell(self, warning: Warn, now: int) -> None:
        """Log it, unless it was logged with this cause less than a minute ago."""
        _log(self._throttle.add(warning.about, warning.what, warning.why, warning.count, now))

    def remind(self, now: int) -> None:
        """Log what happened again and was logged a minute ago."""
        _log(self._throttle.overdue(now))

    def tell_all(self, now: int) -> None:
        """Log all that was not logged yet: nothing more will happen."""
        _log(self._throttle.overdue(now + MINUTE))


def _log(due: Iterable[Due]) -> None:
    for each in due:
        LOG.warning("%s: %s %d times: %s", each.about, each.what, each.times, each.why, extra={"due": each})
