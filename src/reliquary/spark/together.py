"""Questions to several managers at once, with the answers and errors that one after the other would give.

    north    orders --> parts       a client is for one thread at a time, so the queues of one manager
    south    orders --> parts       are asked in their order, while other managers are asked

The answers come in the order of the questions.  Where several managers fail, the error is that of the first
of them in this order, and the others stop waiting.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

THREADS: Final = 32
"""Managers that are asked at once, at most."""
Q = TypeVar("Q")
A = TypeVar("A")


class Together:
    """Asks the managers of one query; Spark sends it to other processes as a part of a reader."""

    def __init__(self) -> None:
        self.broken = False
        """Set while the error of one manager ends the questions to the others, which then wait no longer."""

    def ask(self, questions: Sequence[Q], manager_of: Callable[[Q], str], ask: Callable[[Q], A]) -> list[A]:
        """Return the answers to these questions; `ask` is called in a thread for each manager."""
        places: dict[str, list[int]] = {}
        for place, question in enumerate(questions):
            places.setdefault(manager_of(question), []).append(place)
        if len(places) <= 1:
            return [ask(question) for question in questions]

        def answers_of(manager: str) -> list[tuple[int, A]]:
            return [(place, ask(questions[place])) for place in places[manager]]

        with ThreadPoolExecutor(min(len(places), THREADS)) as pool:
            asked = [pool.submit(answers_of, manager) for manager in places]
            try:
                found = [pair for each in asked for pair in each.result()]
            except BaseException:
                self.broken = True
                for each in asked:
                    each.cancel()
                raise
            finally:
                pool.shutdown()
                self.broken = False
        return [answer for _, answer in sorted(found, key=lambda pair: pair[0])]
