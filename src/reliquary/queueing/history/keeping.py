"""Delete the rows of exported events, and continue after them when the manager starts."""

from __future__ import annotations

from reliquary.base.rows import Rows
from reliquary.base.time import Instant
from reliquary.queueing.history.events import ForgetHistory, ResumeHistory
from reliquary.queueing.model.history.history import History
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import HISTORY, PAST_THE_END, history_key


def resume(state: State, event: ResumeHistory, now: Instant) -> None:
    """Continue after the last event in the files.

    Rows of events that are in files are deleted.  Where the files have more events than the store, the store
    is an older copy, and a gap begins.
    """
    history = state.history
    if history is None:
        return
    forget(state, ForgetHistory(event.after), now)
    if event.after > history.last:
        state.rows.delete_range(HISTORY, history_key(0), PAST_THE_END)
        history.last = history.exported = event.after
        history.total = history.exported_total
        history.gap = True


def forget(state: State, event: ForgetHistory, now: Instant) -> None:
    """Delete the rows of exported events; a row with an event that is not exported stays."""
    del now
    history = state.history
    if history is None or not history.exported < event.until <= history.last:
        return
    first = _first_kept(state.rows, event.until + 1)
    _account(state, history, first)
    state.rows.delete_range(HISTORY, history_key(0), history_key(first))
    history.exported = event.until


def _first_kept(rows: Rows, event: int) -> int:
    """Return the first event of the row that has this event; the event itself when no row has it."""
    for key, row in rows.range(HISTORY, b"", history_key(event + 1), limit=1, reverse=True):
        first = int.from_bytes(key)
        if first + row.count > event:
            return first
    return event


def _account(state: State, history: History, first: int) -> None:
    """Count the bytes of the rows before this event as exported."""
    before = state.rows.range(HISTORY, b"", history_key(first), limit=1, reverse=True)
    for _, row in before:
        history.exported_total = row.total
