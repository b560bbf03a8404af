"""What goes on over a channel that another agent drives: its session, its requests, the PULL that waits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(slots=True)
class Served:
    """The volatile part of a channel at its server."""

    connection: int = 0
    """The newest connection that carried the channel; what older ones bring is not heard (3.8)."""
