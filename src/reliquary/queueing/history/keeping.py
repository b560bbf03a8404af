"""The history on disk: one row a batch, until its events are in files.

    notes --settle--> row `first event` --exported--> files --ForgetHistory--> gone

Events are numbered from 1 without a gap; the number of the next one is behind the last row, or in the mark
when no row is left.  When too much waits for its export, because no file can be written, the history stops:
what happens is only counted, and when there is room again one GAP says how much is missing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from reliquary.base.rows import Rows
from reliquary.base.time import Instant
from reliquary.queueing.history.events import ForgetHistory, ResumeHistory
from reliquary.queueing.model.history.notes import Notes
from reliquary.queueing.model.history.records import HistoryMark
from reliquary.queueing.model.tables import HISTORY, HISTORY_MARK, ONLY, PAST_THE_END, history_key

if TYPE_CHECKING:
    from reliquary.queueing.model.state import State


@dataclass(frozen=True, slots=True)
class Room:
    """How much may wait for its export."""

    events: int = 20_000_000
    bytes: int = 2 * 1024**3


@dataclass(slots=True)
class History:
    """What is known of the history while it is on."""

    room: Room = field(default_factory=Room)
    notes: Notes = field(default_factory=Notes)
    last: int = 0
    """The number of the last event that was told."""
    total: int = 0
    """Bytes of all rows ever."""
    exported: int = 0
    exported_total: int = 0
    missing: int = 0
    gap: bool = False
    """Something is missing: so many events, or nobody knows how many."""
    marked: HistoryMark | None = None
    """The mark as it is on disk."""

    @property
    def pending(self) -> int:
        """Events that are in no file yet."""
        return self.last - self.exported

    @property
    def pending_bytes(self) -> int:
        """What they take."""
        return self.total - self.exported_total

    @property
    def is_full(self) -> bool:
        """Whether nothing more may wait."""
        return self._exceeds(1)

    @property
    def has_room(self) -> bool:
        """Whether so little waits that a history that stopped goes on."""
        return not self._exceeds(2)

    def _exceeds(self, part: int) -> bool:
        return self.pending >= self.room.events // part or self.pending_bytes >= self.room.bytes // part

    def mark(self) -> HistoryMark:
        """What the disk has to know beside the rows."""
        last = self.last if self.last == self.exported else 0
        return HistoryMark(self.exported, self.exported_total, last, self.missing, self.gap)


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
    if state.record is not None:
        history.notes.lineage = state.record.lineage
        if mark is None and not rows:
            history.gap = True  # messages came before there was a history


def leave_off(rows: Rows) -> None:
    """The history is not kept in this life: the next one that does begins with a gap."""
    mark = rows.get(HISTORY_MARK, ONLY)
    if mark is not None and not mark.off:
        off = HistoryMark(mark.exported, mark.exported_total, mark.last, mark.missing, mark.gap, off=True)
        rows.put(HISTORY_MARK, ONLY, off)


def resume(state: State, event: ResumeHistory, now: Instant) -> None:
    """Files may know events whose rows are still there, or more than the store, an older copy of itself."""
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
    """What is in files need not stay; a row of which a part is not, does."""
    del now
    history = state.history
    if history is None or not history.exported < event.until <= history.last:
        return
    first = _first_kept(state.rows, event.until + 1)
    _account(state, history, first)
    state.rows.delete_range(HISTORY, history_key(0), history_key(first))
    history.exported = event.until


def _first_kept(rows: Rows, event: int) -> int:
    """Where the row begins that has this event; the event itself when no row has it."""
    for key, row in rows.range(HISTORY, b"", history_key(event + 1), limit=1, reverse=True):
        first = int.from_bytes(key)
        if first + row.count > event:
            return first
    return event


def _account(state: State, history: History, first: int) -> None:
    """The bytes of the rows before this event wait no longer."""
    before = state.rows.range(HISTORY, b"", history_key(first), limit=1, reverse=True)
    for _, row in before:
        history.exported_total = row.total
