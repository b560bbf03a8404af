"""Counts the copies of messages that could not be kept, and warns the administrator.

The specification allows to drop a journal or dead-letter copy when its queue is full (DM-049, DM-050), and
an acknowledgement whose queue does not exist.  Here each drop is recorded: by a fact, by a counter of the
queue on disk, and by a warning in the log.
"""

from __future__ import annotations

from reliquary.base.turn import Warn
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.model import facts
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import Copy


def lose(state: State, queue: int, copy: Copy, why: str) -> None:
    """Count one lost copy of a message of this queue; 0 stands for a queue that does not exist."""
    found = state.queues.get(queue)
    apply(state, facts.CopyLost(queue if found else 0, copy, why))
    name = found.record.pathname if found else "a deleted queue"
    _, before = state.turn.losses.get((name, copy), ("", 0))
    state.turn.losses[name, copy] = (why, before + 1)


def warn(state: State) -> None:
    """Send the warnings of a turn: one for each queue and kind of copy, with the count."""
    for (name, copy), (why, count) in state.turn.losses.items():
        state.draft.ask(Warn(name, f"copies not kept ({copy.word})", why, count))
    state.turn.losses.clear()


def by_word(lost: tuple[int, ...]) -> dict[str, int]:
    """Return the counters of lost copies by name, without those that are zero."""
    return {copy.word: count for copy, count in zip(Copy, lost, strict=False) if count}
