"""What an OutgoingQueue has while we run, [MS-MQDMPR] 3.1.1.3 and 3.1.1.4: its state, its connection.

        message waits           connected
    INACTIVE ---------> WAITING ----------> CONNECTED ---> DISCONNECTING ---> DISCONNECTED
       ^                   |                    |                                  |
       '------ failed -----'---- failed --------'         message waits: WAITING --'

    ON_HOLD   from anywhere, by an administrator, until he resumes it
    LOCKED    by hardened security, until the manager starts without it

All of it is volatile (DM-004, DM-071).  That a queue is on hold or locked is also in its record,
which outlives the process (AN-49); `Link.of` reads it back.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

import msgspec

from reliquary.queueing.model.message import SequenceId
from reliquary.queueing.model.queue import Outgoing
from reliquary.queueing.model.travel.carriers import Carrier

HISTORY: Final = 32
"""Connection attempts that are remembered."""


class OutgoingState(Enum):
    """OutgoingQueue.State (DM-030)."""

    INACTIVE = "inactive"
    WAITING = "waiting"
    CONNECTED = "connected"
    DISCONNECTING = "disconnecting"
    DISCONNECTED = "disconnected"
    NEED_VALIDATION = "need-validation"
    ON_HOLD = "on-hold"
    LOCKED = "locked"


class Happening(Enum):
    """What moves an outgoing queue from state to state."""

    HARDENED = "hardened"
    """Hardened security holds, and messages would not go by HTTP."""
    UNHARDENED = "unhardened"
    """The manager started, and hardened security holds no longer."""
    PAUSED = "paused"
    RESUMED = "resumed"
    CONNECT_BEGUN = "connect-begun"
    CONNECTED = "connected"
    FAILED = "failed"
    """No connection, or no answer on it."""
    SESSION_CLEANED_UP = "session-cleaned-up"
    """Nothing was sent for a while."""
    VALIDATION_NEEDED = "validation-needed"
    """The directory has to say where the destination is."""
    VALIDATED = "validated"
    DISCONNECT_BEGUN = "disconnect-begun"
    DISCONNECTED = "disconnected"


def _table() -> dict[tuple[OutgoingState, Happening], OutgoingState | None]:
    """B.2 of the digest, a row a happening; None: it does not concern a queue in this state."""
    i, w, c, g = (OutgoingState.INACTIVE, OutgoingState.WAITING, OutgoingState.CONNECTED,
                  OutgoingState.DISCONNECTING)  # fmt: skip
    d, v, h, k = (OutgoingState.DISCONNECTED, OutgoingState.NEED_VALIDATION, OutgoingState.ON_HOLD,
                  OutgoingState.LOCKED)  # fmt: skip
    n = None
    # DEPARTS from 3.1.3 (DM-095): a queue on hold stays on hold when it is locked as well, because else the
    # end of hardened security would also end what an administrator ordered.
    # DEPARTS from 3.1.7.2.4 (DM-293): Resume Queue leaves a queue alone that is not on hold, because its
    # connection would be forgotten, or hardened security evaded.
    rows: dict[Happening, tuple[OutgoingState | None, ...]] = {
        #                               from: i  w  c  g  d  v  h  k
        Happening.HARDENED:                  (k, k, k, k, k, k, h, k),  # DM-095, DM-173
        Happening.UNHARDENED:                (i, w, c, g, d, v, h, w),  # DM-095
        Happening.PAUSED:                    (h, h, h, h, h, h, h, h),  # DM-292
        Happening.RESUMED:                   (i, w, c, g, d, v, i, k),  # DM-293
        Happening.CONNECT_BEGUN:             (w, w, w, w, w, w, n, n),
        Happening.CONNECTED:                 (c, c, c, n, c, c, n, n),
        Happening.FAILED:                    (i, i, i, d, d, i, n, n),
        Happening.SESSION_CLEANED_UP:        (n, n, d, d, d, n, n, n),
        Happening.VALIDATION_NEEDED:         (v, v, n, n, v, v, n, n),
        Happening.VALIDATED:                 (n, n, n, n, n, w, n, n),
        Happening.DISCONNECT_BEGUN:          (n, g, g, g, n, n, n, n),
        Happening.DISCONNECTED:              (n, d, d, d, d, n, n, n),
    }  # fmt: skip
    columns = (i, w, c, g, d, v, h, k)
    return {(state, row): rows[row][column] for row in rows for column, state in enumerate(columns)}


NEXT: Final[Mapping[tuple[OutgoingState, Happening], OutgoingState | None]] = _table()
SILENT: Final = frozenset({OutgoingState.ON_HOLD, OutgoingState.LOCKED})
"""Nothing leaves a queue in these states (DM-031)."""
UNCONNECTED: Final = frozenset({OutgoingState.INACTIVE, OutgoingState.DISCONNECTED, OutgoingState.WAITING})
"""A message that waits here wants a connection."""
# DEPARTS from 3.1.7.1.5 (AN-41): a message wakes an inactive queue too, because new and
# resumed queues are inactive and would never send anything.


class ConnectionStatus(Enum):
    """ConnectionHistory.Status: how an attempt to connect went (DM-032)."""

    IN_PROCESS = "in-process"
    ESTABLISH_PACKET_RECEIVED = "establish-packet-received"
    ESTABLISHED = "established"
    UNKNOWN_FAILURE = "unknown-failure"
    PING_FAILURE = "ping-failure"
    SOCKET_CREATE_FAILURE = "socket-create-failure"
    SOCKET_BIND_FAILURE = "socket-bind-failure"
    SOCKET_CONNECT_FAILURE = "socket-connect-failure"
    TCP_NOT_ENABLED = "tcp-not-enabled"
    SOCKET_SEND_FAILURE = "socket-send-failure"
    CONNECTION_NOT_READY = "connection-not-ready"
    DNS_FAILURE = "dns-failure"
    CERTIFICATE_VALIDATION_FAILURE = "certificate-validation-failure"
    CONNECTION_LIMIT_REACHED = "connection-limit-reached"
    CONNECTION_REFUSED = "connection-refused"
    ROUTING_DATA_NOT_AVAILABLE = "routing-data-not-available"
    LOW_RESOURCE = "low-resource"


class ConnectionRecord(msgspec.Struct, frozen=True):
    """One entry of ConnectionHistory."""

    status: ConnectionStatus
    time: int
    """ConnectionHistoryTime, seconds since 1970."""
    error: int = 0
    """An HRESULT; 0 for none."""
    addresses: tuple[str, ...] = ()
    """AddressList: where the next hop may be."""


class SequenceInfo(msgspec.Struct, frozen=True):
    """SEQUENCE_INFO, [MS-MQMQ] 2.2.5: one message of a stream."""

    sequence: SequenceId
    number: int
    previous: int


class OutgoingTransfer(msgspec.Struct, frozen=True, kw_only=True):
    """OutgoingTransferInfo, 3.1.1.4: how far a stream got; the protocol that sends it says so."""

    first_unacknowledged: SequenceInfo | None = None
    """EodFirstNonAck."""
    last_acknowledged: SequenceInfo | None = None
    """EodLastAck."""
    last_unacknowledged: SequenceInfo | None = None
    """EodLastNonAck."""
    next_to_send: SequenceInfo | None = None
    """EodNextSeq."""
    acknowledged_count: int = 0
    """EodLastAckCount: how often the last order acknowledgement came."""
    acknowledged_time: int = 0
    """EodLastAckTime, microseconds since 1970."""
    unacknowledged: int = 0
    """EodNoAckCount: sent, and no order acknowledgement yet."""
    unread: int = 0
    """EodNoReadCount: acknowledged, and not known to be received."""
    resent: int = 0
    """EodResendCount: how often the last message was sent."""
    resend_interval: int = 0
    """EodResendInterval, seconds."""
    resend_time: int = 0
    """EodResendTime, microseconds since 1970."""


class DispatchEntry(msgspec.Struct, frozen=True):
    """DispatchEntry, 3.1.1.18, with SendInProgress True."""

    queue: int
    lookup_id: int
    priority: int
    """The queue's BasePriority and the message's Priority together."""


@dataclass(slots=True)
class Link:
    """The way out of one outgoing queue."""

    state: OutgoingState = OutgoingState.INACTIVE
    next_hops: tuple[str, ...] = ()
    history: deque[ConnectionRecord] = field(default_factory=lambda: deque(maxlen=HISTORY))
    transfer: OutgoingTransfer = field(default_factory=OutgoingTransfer)
    sending: dict[int, DispatchEntry] = field(default_factory=dict)
    """What is being sent, by LookupIdentifier, in the order it was handed out."""
    accepted: dict[int, DispatchEntry] = field(default_factory=dict)
    """What the peer has, and has not told the outcome of; it is neither sent again nor let go."""
    reached: dict[int, DispatchEntry] = field(default_factory=dict)
    """What is in its queue there, and waits for the word that it left it; it never goes again."""
    at_once: int = 1
    """How many may be sent at the same time."""
    asked: bool = False
    """Somebody was asked to connect, and has not answered."""
    failures: int = 0
    """In a row, since something last went through."""
    resting: bool = False
    """It failed, and the time to try again has not come."""
    delivered: int = 0
    refused: int = 0
    carrier: Carrier | None = None
    """The protocol that brings its messages; None where no protocol claims the destination."""
    told: bool = False
    """A carrier that takes batches was notified of waiting messages, and has not looked since."""
    transactional: bool | None = None
    """Whether the queue there takes messages in transactions, as a refusal showed; None for not known."""
    unused: bool = False
    """It was idle at the last look, and nobody has asked for it since."""

    @classmethod
    def of(cls, outgoing: Outgoing, carrier: Carrier | None = None) -> Link:
        """Return the link of a new queue, or of one that was found on disk."""
        link = cls(carrier=carrier)
        if outgoing.locked:
            link.happen(Happening.HARDENED)
        if outgoing.on_hold:
            link.happen(Happening.PAUSED)
        return link

    def end(self, lookup_ids: Iterable[int]) -> list[int]:
        """Forget what has its outcome; the answer is those that were under way."""
        under_way = (self.sending, self.accepted, self.reached)
        return [each for each in lookup_ids if any(place.pop(each, None) for place in under_way)]

    def happen(self, happening: Happening) -> None:
        """Go where the table says."""
        self.state = NEXT[self.state, happening] or self.state
