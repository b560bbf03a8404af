"""Stores the history in rows: one row for each batch, until its events are exported to files.

    notes --settle--> row `first event` --exported--> files --ForgetHistory--> gone

Events are numbered from 1 without a gap; the number of the next one is behind the last row, or in the mark
when no row is left.  When too much waits for its export, because no file can be written, the history stops:
what happens is only counted, and when there is room again one GAP says how much is missing.
"""

from __future__ import annotations

from reliquary.base.rows import Rows
from reliquary.queueing.model.history.history import History
from reliquary.queueing.model.history.records import HistoryMark
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import HISTORY, HISTORY_MARK, ONLY, PAST_THE_END, history_key


def keep(state: State, history: History) -> None:
    """Stage the notes of a batch as one row, or count them as missing where there is no room."""
    notes = history.notes
    count = len(notes)
    if history.gap:
        if not history.has_room:
            history.missing += notes.drop()
            _put_mark(state.rows, history)
            return
        notes.gap(history.missing)
        history.gap, history.missing = False, 0
        count += 1
    elif count and history.is_full:
        history.gap, history.missing, count = True, notes.drop(), 0
    if count:
        row = notes.take(history.total)
        state.rows.put(HISTORY, history_key(history.last + 1), row, fresh=True)
        history.last += row.count
        history.total = row.total
    _put_mark(state.rows, history)


def _put_mark(rows: Rows, history: History) -> None:
    """Stage the mark if the one on disk is out of date; `last` is left out, because a row has it mostly."""
    marked = history.marked
    if marked is None or (marked.exported, marked.missing, marked.gap, marked.off) != (
        history.exported,
        history.missing,
        history.gap,
        False,
    ):
        history.marked = history.mark()
        rows.put(HISTORY_MARK, ONLY, history.marked)


def recover(state: State, history: History) -> None:
    """Continue after the last event on disk; events from the time without a history are a gap."""
    mark = state.rows.get(HISTORY_MARK, ONLY)
    history.marked = mark
    if mark is not None:
        history.exported, history.exported_total = mark.exported, mark.exported_total
        history.missing, history.gap = mark.missing, mark.gap or mark.off
    history.last, history.total = max(history.exported, mark.last if mark else 0), history.exported_total
    rows = state.rows.range(HISTORY, b"", PAST_THE_END, limit=1, reverse=True)
    for key, row in rows:
        history.last, history.total = int.from_bytes(key) + row.count - 1, row.total
    if state.manager.record is not None:
        history.notes.lineage = state.manager.record.lineage
        if mark is None and not rows:
            history.gap = True  # the store has messages that are older than its history


def leave_off(rows: Rows) -> None:
    """Note on disk that this process keeps no history, so that the next history begins with a gap."""
    mark = rows.get(HISTORY_MARK, ONLY)
    if mark is not None and not mark.off:
        off = HistoryMark(mark.exported, mark.exported_total, mark.last, mark.missing, mark.gap, off=True)
        rows.put(HISTORY_MARK, ONLY, off)
