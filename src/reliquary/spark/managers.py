"""The managers of one query, as its driver asks them: what happens when one does not answer.

    method    FAIL      WAIT                    SKIP
    ask       raises    asks until it answers   None, and the manager is left alone for a while
    insist    raises    asks until it answers   asks until it answers
    offer     raises    None                    None

`ask` is for a batch that is planned now.  `insist` is for a batch that was planned before: its rows are
fixed, so it cannot go on without the manager.  `offer` is for what can also be done later.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import msgspec

from reliquary.client.errors import OutcomeUnknown, ServerUnreachable
from reliquary.client.feed import FeedClient
from reliquary.spark.access import Access, Gone

T = TypeVar("T")
Connect = Callable[[Access], FeedClient]
LEFT_ALONE: Final = 5.0
"""Seconds in which a manager that did not answer is not asked again, at least."""
PAUSE: Final = 1.0
"""Seconds between the tries of a query that waits for a manager."""
SILENT: Final = (ServerUnreachable, OutcomeUnknown)
"""The errors that say that a manager does not answer; all that is asked here may be asked again."""

log = logging.getLogger(__name__)


class Managers:
    """Clients of the managers of one query."""

    def __init__(
        self,
        managers: Sequence[Access],
        gone: Gone,
        connect: Connect,
        wait: Callable[[float], None],
        clock: Callable[[], float],
    ) -> None:
        self._gone = gone
        self._wait = wait
        self._clock = clock
        self._clients = {access.name: connect(_with_patience(access, gone)) for access in managers}
        self._until: dict[str, float] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of all managers, in the order of the options."""
        return tuple(self._clients)

    @property
    def away(self) -> tuple[str, ...]:
        """Return the managers that are skipped now."""
        return tuple(name for name in self._clients if name in self._until)

    def called(self, manager: str, queue: str) -> str:
        """Return the name of a queue in errors: with its manager if there are several."""
        return queue if len(self._clients) == 1 else f"{queue} at {manager}"

    def ask(self, manager: str, work: Callable[[FeedClient], T]) -> T | None:
        """Return the answer of a manager; None if it is skipped."""
        if self._gone is not Gone.SKIP:
            return self.insist(manager, work)
        if self._is_left_alone(manager):
            return None
        began = self._clock()
        try:
            answer = work(self._clients[manager])
        except SILENT as silence:
            now = self._clock()
            if manager not in self._until:
                log.warning("onManagerGone=skip, so the query goes on without %s: %s", manager, silence)
            self._until[manager] = now + max(LEFT_ALONE, 2 * (now - began))
            return None
        self._answered(manager)
        return answer

    def insist(self, manager: str, work: Callable[[FeedClient], T]) -> T:
        """Return the answer of a manager; unless the option is `fail`, wait for it."""
        waits = False
        while True:
            try:
                answer = work(self._clients[manager])
            except SILENT as silence:
                if self._gone is Gone.FAIL:
                    raise
                if not waits:
                    log.warning("the query waits for %s: %s", manager, silence)
                waits = True
            else:
                self._answered(manager)
                return answer
            self._wait(PAUSE)

    def offer(self, manager: str, work: Callable[[FeedClient], T]) -> T | None:
        """Return the answer of a manager; unless the option is `fail`, None if it does not answer."""
        if self._is_left_alone(manager):
            return None
        try:
            return work(self._clients[manager])
        except SILENT as silence:
            if self._gone is Gone.FAIL:
                raise
            log.warning("%s cannot be notified now and is notified later: %s", manager, silence)
            return None

    def close(self) -> None:
        """Close the clients of all managers; none of them can be asked afterwards."""
        for client in self._clients.values():
            client.close()

    def _is_left_alone(self, manager: str) -> bool:
        return self._clock() < self._until.get(manager, 0.0)

    def _answered(self, manager: str) -> None:
        if self._until.pop(manager, None) is not None:
            log.warning("%s answers again, and the query reads on where it was", manager)


def _with_patience(access: Access, gone: Gone) -> Access:
    """Return the access with no time to wait for a restart if the manager can be skipped."""
    return msgspec.structs.replace(access, patience=0.0) if gone is Gone.SKIP else access
