"""Apply facts about objects of the directory, in memory and in the rows."""

from __future__ import annotations

from typing import Final

from reliquary.base.turn import Fact
from reliquary.queueing.model import facts
from reliquary.queueing.model.directory.objects import kind_of
from reliquary.queueing.model.feature import Applier
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import DIRECTORY, DirectoryRow, directory_key


def _object_written(state: State, fact: facts.DirectoryObjectWritten) -> None:
    state.directory.put(fact.subject)
    key = directory_key(kind_of(fact.subject), fact.subject.identifier)
    state.rows.put(DIRECTORY, key, DirectoryRow(fact.subject))


def _object_removed(state: State, fact: facts.DirectoryObjectRemoved) -> None:
    state.directory.remove(fact.kind, fact.identifier)
    state.rows.delete(DIRECTORY, directory_key(fact.kind, fact.identifier))


APPLIERS: Final[dict[type[Fact], Applier]] = {
    facts.DirectoryObjectWritten: _object_written,
    facts.DirectoryObjectRemoved: _object_removed,
}
