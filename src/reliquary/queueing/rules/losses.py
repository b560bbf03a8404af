"""Copies that cannot be kept: counted for good, and told to whoever looks after the system.

The specification lets a journal or dead-letter copy go when its queue is full (DM-049, DM-050), and
an acknowledgement whose queue is not there.  Here none goes silently: a fact says so, a counter of
the queue grows on disk with it, and a warning leaves the process.
"""

from __future__ import annotations

from reliquary.base.turn import Warn
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Copy


def lose(state: State, queue: int, copy: Copy, why: str) -> None:
    """A copy of a message of this queue is not kept; 0 stands for a queue that is not there."""
    found = state.queues.get(queue)
    apply(state, facts.CopyLost(queue if found else 0, copy, why))
    name = found.record.pathname if found else "a queue that is gone"
    _, before = state.losses.get((name, copy), ("", 0))
    state.losses[name, copy] = (why, before + 1)


def warn(state: State) -> None:
    """At the end of a turn: one warning for all that was lost in one way."""
    for (name, copy), (why, count) in state.losses.items():
        state.draft.ask(Warn(name, f"copies not kept ({copy.word})", why, count))
    state.losses.clear()


def by_word(lost: tuple[int, ...]) -> dict[str, int]:
    """For a person: only what was lost."""
    return {copy.word: count for copy, count in zip(Copy, lost, strict=False) if count}
