"""Defines the state that HTTPR's rules read and write.

Durable state (`numbers`, `channels`) changes only through `apply.apply`; `recovery.recover` reads it
from the rows.  Everything else is lost with the process: the volatile state of both agents, the names,
and the outgoing queues with messages.
"""

from __future__ import annotations

from reliquary.base.rows import Rows
from reliquary.base.time import Instant
from reliquary.base.turn import Draft
from reliquary.protocols.httpr.addresses import agent_of
from reliquary.protocols.httpr.client.state import ClientState
from reliquary.protocols.httpr.server.state import ServerState
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.protocols.httpr.tables import Channel, Numbers, Role

HOLDER = "httpr"
"""The name of the owner of reservations, and of the carrier of batches, at the queue manager."""


class State:
    """The state that both agents share, with the state of each in `client` and `server`."""

    def __init__(self, rows: Rows, settings: HttprSettings) -> None:
        self.rows = rows
        self.settings = settings
        self.draft = Draft()
        self.client = ClientState()
        self.server = ServerState()
        self.numbers = Numbers()
        self.channels: dict[int, Channel] = {}
        """The rows of all channels, by their numbers."""
        self._by_identity: dict[tuple[Role, str, str, str], int] = {}
        self.begun: dict[tuple[int, int], Instant] = {}
        """The time when each batch in doubt was begun, by channel and id; unknown after a restart."""
        self.fetchers: set[str] = set()
        """Agents that fetch their messages from this server, so that the client agent sends them none."""
        self.waiting: dict[int, str] = {}
        """Outgoing queues with messages for agents, and their destinations."""
        self.origin = ""
        """The `httpr://host[:port]` of the agents of this manager; empty until the server listens."""
        self.authorities: frozenset[str] = frozenset()

    def add(self, row: Channel) -> None:
        """Add or replace the row of a channel in memory; only `apply` and `recover` call this."""
        before = self.channels.get(row.number)
        self.channels[row.number] = row
        if before is not None and before.pulled == row.pulled:  # the indexes below do not change
            return
        self._by_identity[row.identity] = row.number
        if row.role is Role.CLIENT:
            self.client.by_name[row.name, row.responder] = row.number
        elif row.pulled:
            self.fetchers.add(agent_of(row.requester))
        elif agent_of(row.requester) in self.fetchers:
            others = self.channels.values()  # the agent may still fetch over another channel
            self.fetchers = {agent_of(each.requester) for each in others if each.pulled}

    def find(self, role: Role, requester: str, name: str, responder: str) -> Channel | None:
        """Return the channel of this triple; its parts are compared literally (H-23)."""
        number = self._by_identity.get((role, requester, name, responder))
        return None if number is None else self.channels[number]

    def find_client_channel(self, name: str, responder: str) -> Channel | None:
        """Return the client channel of this name to a responder, for any requester."""
        number = self.client.by_name.get((name, responder))
        return None if number is None else self.channels[number]
