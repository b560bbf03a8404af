"""Holds the state that the connections of one listener share: mounts, limits, heads."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reliquary.net.http.known_heads import SharedHeads
from reliquary.net.http.limits import Limits
from reliquary.net.http.mounts import Mounts
from reliquary.net.http.response import ResponseHeads
from reliquary.net.tcp.budget import Budget
from reliquary.net.tcp.connections import Connections

if TYPE_CHECKING:
    from reliquary.net.http.connection import Connection


class Shared(Connections["Connection"]):
    """The part of a listener that its connections see."""

    __slots__ = ("heads", "known_heads", "limits", "mounts")

    connections: dict[int, Connection]

    def __init__(
        self, mounts: Mounts, limits: Limits, heads: ResponseHeads, now: int, budget: Budget | None = None
    ) -> None:
        super().__init__(
            limits.connections,
            limits.idle_time,
            now,
            unread_time=limits.unread_time,
            linger_time=limits.linger_time,
            spare=limits.spare,
            budget=budget,
        )
        self.mounts = mounts
        self.limits = limits
        self.heads = heads
        """The cached heads of responses."""
        self.known_heads = SharedHeads()
        """The heads of requests that came before."""
