"""Makes numbers of sequences, which never decrease, and identifiers that cannot be guessed."""

from __future__ import annotations

from hashlib import blake2b
from struct import Struct as Layout
from typing import TYPE_CHECKING, Final
from uuid import UUID

import msgspec

from reliquary.base.rows import Table
from reliquary.base.time import Instant
from reliquary.base.turn import Fact

if TYPE_CHECKING:
    from reliquary.protocols.wsrm.state import State


class Counters(msgspec.Struct, frozen=True, omit_defaults=True):
    """Counters that never decrease, kept in one row."""

    sequence: int = 0
    """The number of the newest sequence, in either direction."""


COUNTERS: Final = Table("wsrm_counters", Counters)
ONLY: Final = b"\0"
sequence_key = Layout(">I").pack
"""The function for the key of a sequence in each table with a row for one."""


class SequenceNumbered(Fact, frozen=True):
    """A sequence got this number, which no other sequence ever gets."""

    sequence: int


def next_sequence(state: State) -> int:
    """Return the number of a new sequence."""
    state.counters = Counters(state.counters.sequence + 1)
    state.rows.put(COUNTERS, ONLY, state.counters)
    state.draft.state(SequenceNumbered(state.counters.sequence))
    return state.counters.sequence


def new_identifier(state: State, now: Instant) -> str:
    """Return `urn:uuid:...` for an own sequence or message; no other call returns it, in any process."""
    state.identifiers += 1
    words = f"{state.counters.sequence} {state.identifiers} {now}".encode()
    digest = blake2b(words, digest_size=16, key=state.settings.seed[:64]).digest()
    return f"urn:uuid:{UUID(bytes=digest, version=4)}"
