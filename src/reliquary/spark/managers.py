"""The managers of one query, as its driver asks them: what happens when one does not answer.

    method    FAIL      WAIT                    SKIP
    ask       raises    asks until it answers   None, and the manager is left alone for a while
    insist    raises    asks until it answers   asks until it answers
    offer     raises    None                    None

A manager that is skipped is asked again in a thread of its own, with a client of its own: it may be silent
for as long as the option `timeout` says, and the other managers do not wait for that.

`ask` is for a batch that is planned now.  `insist` is for a batch that was planned before: its rows are
fixed, so it cannot go on without the manager.  `offer` is for what can also be done later.  The queues that
the work is about are named in its errors.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Sequence
from threading import Event, Thread
from typing import Final, TypeVar

import msgspec

from reliquary.client.errors import OutcomeUnknown, ServerUnreachable
from reliquary.client.feed import FeedClient
from reliquary.spark import errors
from reliquary.spark.access import Access, Gone
from reliquary.spark.offsets import QueueKey
from reliquary.spark.together import Together

T = TypeVar("T")
Connect = Callable[[Access], FeedClient]
LEFT_ALONE: Final = 5.0
"""The least seconds in which a manager that did not answer is not asked again."""
GLANCE: Final = 2.0
"""The seconds to wait for a manager that did not answer before, when it is asked again."""
PAUSE: Final = 1.0
"""The seconds between the tries of a query that waits for a manager."""
SILENT: Final = (ServerUnreachable, OutcomeUnknown)
"""The errors of a manager that does not answer; all requests here may be repeated."""

log = logging.getLogger(__name__)


class _Attempt:
    """A question to a manager that may not answer, in a thread."""

    def __init__(self, ask: Callable[[], object], clock: Callable[[], float]) -> None:
        self._ask = ask
        self._clock = clock
        self.ended = Event()
        self.silence: Exception | None = None
        """The error of a manager that did not answer; known when the attempt has ended."""
        self.took = 0.0
        Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        began = self._clock()
        try:
            self._ask()
        except SILENT as silence:
            self.silence = silence
        except Exception as answer:  # noqa: BLE001 - it is raised when the manager is asked as usual
            log.debug("a manager that was skipped answers with an error: %s", answer)
        self.took = self._clock() - began
        self.ended.set()


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
        self._connect = connect
        self._accesses = {access.name: _with_patience(access, gone) for access in managers}
        self._clients = {name: connect(access) for name, access in self._accesses.items()}
        self._until: dict[str, float] = {}
        """The managers that are skipped, and the time of the next attempt."""
        self._attempts: dict[str, _Attempt] = {}
        """The running attempts for which no call waits."""
        self.together = Together()

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all managers, in the order of the options."""
        return tuple(self._clients)

    @property
    def skips(self) -> bool:
        """Whether managers that do not answer are skipped."""
        return self._gone is Gone.SKIP

    @property
    def away(self) -> tuple[str, ...]:
        """The managers that are skipped now."""
        return tuple(name for name in self._clients if name in self._until)

    def called(self, manager: str, queue: str) -> str:
        """Return the name of a queue for errors, with its manager if there are several."""
        return errors.called(self.names, manager, queue)

    def _answer(self, manager: str, work: Callable[[FeedClient], T], queues: Sequence[str]) -> T:
        with errors.placed(self.names, manager, ", ".join(queues)):
            return work(self._clients[manager])

    def ask(self, manager: str, work: Callable[[FeedClient], T], *queues: str) -> T | None:
        """Return the answer of a manager; None if it is skipped."""
        if not self.skips:
            return self.insist(manager, work, *queues)
        if manager in self._until and not self._answers_again(manager, work):
            return None
        began = self._clock()
        try:
            return self._answer(manager, work, queues)
        except SILENT as silence:
            log.warning("onManagerGone=skip, so the query goes on without %s: %s", manager, silence)
            self._leave_alone(manager, self._clock() - began)
            return None

    def _answers_again(self, manager: str, work: Callable[[FeedClient], object]) -> bool:
        """Return whether a manager that is skipped has answered an attempt; begin one if it is time."""
        attempt = self._attempts.pop(manager, None)
        if attempt is None:
            if self._clock() < self._until[manager]:
                return False
            attempt = _Attempt(lambda: self._ask_anew(manager, work), self._clock)
            attempt.ended.wait(GLANCE)
        if not attempt.ended.is_set():
            self._attempts[manager] = attempt
            return False
        if attempt.silence is not None:
            self._leave_alone(manager, attempt.took)
            return False
        self._answered(manager)
        return True

    def _ask_anew(self, manager: str, work: Callable[[FeedClient], object]) -> None:
        with self._connect(self._accesses[manager]) as client:
            work(client)

    def _leave_alone(self, manager: str, took: float) -> None:
        """Skip a manager for a while after a silence of `took` seconds."""
        self._until[manager] = self._clock() + max(LEFT_ALONE, 2 * took)

    def insist(self, manager: str, work: Callable[[FeedClient], T], *queues: str) -> T:
        """Return the answer of a manager; unless the option is `fail`, wait for it."""
        waits = False
        while True:
            try:
                answer = self._answer(manager, work, queues)
            except SILENT as silence:
                if self._gone is Gone.FAIL or self.together.broken:
                    raise
                if not waits:
                    log.warning("the query waits for %s: %s", manager, silence)
                waits = True
            else:
                self._answered(manager)
                return answer
            self._wait(PAUSE)

    def offer(self, manager: str, work: Callable[[FeedClient], T], *queues: str) -> T | None:
        """Return the answer of a manager; unless the option is `fail`, None if it does not answer."""
        if manager in self._until:
            return None
        try:
            return self._answer(manager, work, queues)
        except SILENT as silence:
            if self._gone is Gone.FAIL:
                raise
            log.warning("%s cannot be notified now and is notified later: %s", manager, silence)
            return None

    def by_queue(self, keys: Iterable[QueueKey], ask: Callable[[QueueKey], T]) -> dict[QueueKey, T]:
        """Return the answers about these queues; all managers are asked at once."""
        questions = tuple(keys)
        answers = self.together.ask(questions, lambda key: key.manager, ask)
        return dict(zip(questions, answers, strict=True))

    def close(self) -> None:
        """Close the clients of all managers, which cannot be asked afterwards."""
        for client in self._clients.values():
            client.close()

    def _answered(self, manager: str) -> None:
        self._attempts.pop(manager, None)
        if self._until.pop(manager, None) is not None:
            log.warning("%s answers again, and the query reads on where it was", manager)


def _with_patience(access: Access, gone: Gone) -> Access:
    """Return the access without a time for restarts if the manager can be skipped."""
    return msgspec.structs.replace(access, patience=0.0) if gone is Gone.SKIP else access
