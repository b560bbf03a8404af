"""What stands behind the interfaces of a listener."""

from __future__ import annotations

from typing import Protocol

from reliquary.protocols.rpc.happenings import Bound, Called


class RpcService(Protocol):
    """Takes the calls of one interface or several, and answers them with the listener's `respond`."""

    def bound(self, connection: int, peer: str, happening: Bound) -> None:
        """A client may call an interface; `connection` is a number that no other connection ever has."""

    def called(self, connection: int, peer: str, happening: Called) -> None:
        """A call came; it is answered now or later, once, by its connection and call number."""

    def cancelled(self, connection: int, call: int, *, forgotten: bool) -> None:
        """A client cancels a call; it still waits for an answer unless it has `forgotten` the call."""

    def connection_lost(self, connection: int) -> None:
        """A connection that was bound is gone, and so are its calls that had no answer."""

    def association_lost(self, association: int) -> None:
        """The last connection of a client is gone, so its context handles run down."""
