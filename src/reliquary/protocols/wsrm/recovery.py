"""Rebuilds the state from its rows; connections, waits and room end with the process, sequences do not."""

from __future__ import annotations

from reliquary.protocols.wsrm.destination import recovery as destination
from reliquary.protocols.wsrm.numbering import COUNTERS, ONLY
from reliquary.protocols.wsrm.source import recovery as source
from reliquary.protocols.wsrm.state import State


def recover(state: State) -> None:
    """Read the counters and the sequences of both directions."""
    state.counters = state.rows.get(COUNTERS, ONLY) or state.counters
    destination.recover(state)
    source.recover(state)
