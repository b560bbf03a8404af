"""The history on disk: one row a batch, until its events are in files.

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
    """At the end of a batch: stage what its turns told, or count it where there is no room."""
    notes = history.notes
    if history.gap:
        if not history.has_room:
            history.missing += notes.drop()
            _put_mark(state.rows, history)
            return
        notes.gap(history.missing)
        history.gap, history.missing = False, 0
    elif len(notes) and history.is_full:
        history.gap, history.missing = True, notes.drop()
    if len(notes):
        row = notes.take(history.total)
        state.rows.put(HISTORY, history_key(history.last + 1), row, fresh=True)
        history.last += row.count
        history.total = row.total
    _put_mark(state.rows, history)


def _put_mark(rows: Rows, history: History) -> None:
    if history.marked is None or _matters(history.marked, history):
        history.marked = history.mark()
        rows.put(HISTORY_MARK, ONLY, history.marked)


def _matters(marked: HistoryMark, history: History) -> bool:
    """Whether the mark on disk says something else; the last event is mostly in a row."""
    return (marked.exported, marked.missing, marked.gap, marked.off) != (
        history.exported,
        history.missing,
        history.gap,
        False,
    )


def recover(state: State, history: History) -> None:
    """Go on behind the last event; what was not told since is a gap."""
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
            history.gap = True  # messages came before there was a history


def leave_off(rows: Rows) -> None:
    """The history is not kept in this life: the next one that does begins with a gap."""
    mark = rows.get(HISTORY_MARK, ONLY)
    if mark is not None and not mark.off:
        off = HistoryMark(mark.exported, mark.exported_total, mark.last, mark.missing, mark.gap, off=True)
        rows.put(HISTORY_MARK, ONLY, off)
