"""What goes on over a channel that we drive: its connection, its session, the requests without a response."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Driven:
    """The volatile part of a channel at its client."""

    epoch: int = 0
    """Of the connection; each new one has a higher number."""
