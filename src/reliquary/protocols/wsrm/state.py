"""All that the rules of WS-ReliableMessaging read and write.

Durable state changes only through `destination.apply`, `source.apply` and `numbering`; `recovery.recover`
reads it from the rows.  Everything here ends with the process, but for `counters`.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable

from reliquary.base.rows import Rows
from reliquary.base.turn import Draft
from reliquary.base.words import Word
from reliquary.protocols.wsrm.codec.values import Acknowledgement, Envelope
from reliquary.protocols.wsrm.destination.state import DestinationState
from reliquary.protocols.wsrm.exchange import Exchange
from reliquary.protocols.wsrm.mapping import message_id_of
from reliquary.protocols.wsrm.numbering import Counters
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.protocols.wsrm.source.state import SourceState
from reliquary.queueing.model.message import ObjectId


def _nothing_due(address: str) -> tuple[Acknowledgement, ...]:
    del address
    return ()


class Count(Word):
    """What is counted, for metrics."""

    DUPLICATES = "duplicates"
    """Messages that came again."""
    NO_ROOM = "no-room"
    """Messages that were dropped because there was no room for them; their source sends them again."""
    ACKNOWLEDGEMENTS_SENT = "acknowledgements-sent"
    ACKNOWLEDGEMENTS_RECEIVED = "acknowledgements-received"
    RETRANSMISSIONS = "retransmissions"
    """Messages that our source sent again."""
    POLLS = "polls"
    """AckRequested that our source sent while BufferRemaining was 0."""
    FAULTS_SENT = "faults-sent"
    FAULTS_RECEIVED = "faults-received"
    GAPS = "gaps"
    """Messages that were missing when their sequence ended."""


class State:
    """What both roles share, and the state of each in `destination` and `source`."""

    def __init__(self, rows: Rows, settings: WsrmSettings) -> None:
        self.rows = rows
        self.settings = settings
        self.draft = Draft()
        self.destination = DestinationState()
        self.source = SourceState()
        self.counters = Counters()
        self.identifiers = 0
        """How many identifiers were made since the process started."""
        self.origin = ""
        """`http://host[:port]` of our endpoints; empty until the server listens."""
        self.authorities: frozenset[str] = frozenset()
        self.exchanges: dict[int, Exchange] = {}
        """Those that the queue manager judges in this turn, by ticket."""
        self.last_ticket = 0
        self.ended: list[int] = []
        """Sequences that came in and ended in this turn: what their clients offered ends too."""
        self.ready: list[int] = []
        """Sequences that go out on responses and have something to send since this turn."""
        self.held: dict[int, Exchange] = {}
        """Requests whose responses are held for a reply, by caller."""
        self.mailboxes: dict[str, deque[Envelope]] = {}
        """What waits for clients that fetch it with MakeConnection, by their addresses."""
        self.routes: dict[str, int] = {}
        """The routes to addresses of peers, by URL; routes of outgoing queues have the queues' numbers."""
        self.epochs: dict[int, int] = {}
        """How often each of these routes failed: a connection that failed takes no further request."""
        self.message_id_of: Callable[[ObjectId], str] = message_id_of
        """Returns the MessageID of a message that may be replied to; the machine replaces it."""
        self.acknowledgements_due: Callable[[str], tuple[Acknowledgement, ...]] = _nothing_due
        """Takes what is due to an address, for an envelope that leaves for it; the machine replaces it."""
        self.counts: Counter[Count] = Counter()
        """Since the process started."""
