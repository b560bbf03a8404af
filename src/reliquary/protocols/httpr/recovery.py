"""Rebuilds HTTPR's state from its rows.

Sessions and connections end with the process, channels do not (HR-031).
"""

from __future__ import annotations

from reliquary.base.rows import every
from reliquary.protocols.httpr.state import State
from reliquary.protocols.httpr.tables import CHANNELS, NUMBERS, ONLY


def recover(state: State) -> None:
    """Read the counters and all channels."""
    state.numbers = state.rows.get(NUMBERS, ONLY) or state.numbers
    for _, channel in every(state.rows, CHANNELS):
        state.add(channel)
