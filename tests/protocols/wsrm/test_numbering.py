"""Numbers of sequences are never used again, and identifiers are never repeated."""

from __future__ import annotations

from uuid import UUID

from reliquary.base.rows import Rows
from reliquary.base.time import Instant
from reliquary.protocols.wsrm.numbering import new_identifier, next_sequence
from reliquary.protocols.wsrm.recovery import recover
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.protocols.wsrm.state import State
from reliquary.protocols.wsrm.tables import TABLES
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows


def state_on(rows: Rows, seed: bytes = b"seed") -> State:
    """Return a state with its rows read."""
    state = State(rows, WsrmSettings(seed=seed))
    recover(state)
    return state


def test_a_number_is_never_given_twice_in_any_process() -> None:
    rows = StagedRows(MemoryDisk(TABLES))
    first = state_on(rows)
    assert [next_sequence(first) for _ in range(3)] == [1, 2, 3]
    assert next_sequence(state_on(rows)) == 4


def test_identifiers_are_unique_and_depend_on_the_seed() -> None:
    rows = StagedRows(MemoryDisk(TABLES))
    state, other = state_on(rows), state_on(rows, b"other")
    made = [new_identifier(state, Instant(1)) for _ in range(100)]
    assert len(set(made)) == 100
    assert all(UUID(each.removeprefix("urn:uuid:")).version == 4 for each in made)
    assert new_identifier(other, Instant(1)) not in made
    assert new_identifier(state_on(rows), Instant(2)) not in made
