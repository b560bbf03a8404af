"""Defines the interface of the services that a listener calls."""

from __future__ import annotations

from typing import Protocol

from reliquary.protocols.rpc.events import Bound, Called


class RpcService(Protocol):
    """Takes the calls of one interface or several, and answers them with the listener's `respond`."""

    def bound(self, connection: int, peer: str, event: Bound) -> None:
        """Record that a client has bound an interface.

        No other connection ever has the number `connection`.
        """

    def called(self, connection: int, peer: str, event: Called) -> None:
        """Take a call; it is answered now or later, once, by its connection and call number."""

    def cancelled(self, connection: int, call: int, *, forgotten: bool) -> None:
        """Cancel a call; its client still waits for an answer unless it has `forgotten` the call."""

    def connection_lost(self, connection: int) -> None:
        """Record that a bound connection was lost with its unanswered calls."""

    def association_lost(self, association: int) -> None:
        """Record that the last connection of a client was lost, so that its context handles run down."""
