"""What HTTPR knows: its channels, and for each what is going on over it now.

Durable state changes only through `apply.apply`; `recovery.recover` builds it from the rows.
All else lives only while the process does (sessions, agreed capabilities, connections).
"""

from __future__ import annotations

from reliquary.base.rows import Rows
from reliquary.base.time import Instant
from reliquary.base.turn import Draft
from reliquary.protocols.httpr.addresses import agent_of
from reliquary.protocols.httpr.client.channel import Driven
from reliquary.protocols.httpr.server.channel import Connection, Served
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.protocols.httpr.tables import Channel, Numbers, Role

HOLDER = "httpr"
"""Under which the queue manager knows us as a holder and carrier of batches."""


class State:
    """All that the rules read and write."""

    def __init__(self, rows: Rows, settings: HttprSettings) -> None:
        self.rows = rows
        self.settings = settings
        self.draft = Draft()
        self.numbers = Numbers()
        self.channels: dict[int, Channel] = {}
        self._by_identity: dict[tuple[Role, str, str, str], int] = {}
        self.begun: dict[tuple[int, int], Instant] = {}
        """When batches in doubt were begun, by channel and id; nobody knows it of an earlier life's."""
        self.served: dict[int, Served] = {}
        """What goes on over channels that others drive."""
        self.sessions: dict[str, int] = {}
        """The channel of each session that others have with us, by SessionId."""
        self.connections: dict[int, Connection] = {}
        """Those of the server that are open, by their numbers."""
        self.fetching: dict[int, None] = {}
        """Channels whose PULL waits for messages, the longest first."""
        self.watched: frozenset[int] = frozenset()
        """The queues that the manager was last asked to watch for them."""
        self.driven: dict[int, Driven] = {}
        """What goes on over channels that we drive."""
        self._ours: dict[tuple[str, str], int] = {}
        self.brought_by: dict[int, int] = {}
        """The channel of ours that brings an outgoing queue."""
        self.fetchers: set[str] = set()
        """Agents who fetch what is for them: nobody dials them."""
        self.online = True
        """The queue manager may send."""
        self.waiting: dict[int, str] = {}
        """Outgoing queues with messages for agents, and their destinations."""
        self.origin = ""
        """`httpr://host[:port]` of our own agents; empty until the server listens."""
        self.authorities: frozenset[str] = frozenset()

    def add(self, channel: Channel) -> None:
        """Know a channel, or know it better; only `apply` and `recover` call this."""
        before = self.channels.get(channel.number)
        self.channels[channel.number] = channel
        if before is not None and before.pulled == channel.pulled:  # all that follows is as it was
            return
        self._by_identity[channel.identity] = channel.number
        if channel.role is Role.CLIENT:
            self._ours[channel.name, channel.responder] = channel.number
        elif channel.pulled:
            self.fetchers.add(agent_of(channel.requester))
        elif agent_of(channel.requester) in self.fetchers:
            others = self.channels.values()  # he may still fetch over another
            self.fetchers = {agent_of(each.requester) for each in others if each.pulled}

    def find(self, role: Role, requester: str, name: str, responder: str) -> Channel | None:
        """The channel of this triple; its parts are compared as they are written (A.5)."""
        number = self._by_identity.get((role, requester, name, responder))
        return None if number is None else self.channels[number]

    def find_ours(self, name: str, responder: str) -> Channel | None:
        """The channel of this name that we drive to this responder, whatever we were called when it began."""
        number = self._ours.get((name, responder))
        return None if number is None else self.channels[number]
