"""Keeps the volatile state of an OutgoingQueue, [MS-MQDMPR] 3.1.1.3 and 3.1.1.4: its state and its
connection.

        message waits           connected
    INACTIVE ---------> WAITING ----------> CONNECTED ---> DISCONNECTING ---> DISCONNECTED
       ^                   |                    |                                  |
       '------ failed -----'---- failed --------'         message waits: WAITING --'

    ON_HOLD   from any state: an administrator paused the queue, until it is resumed
    LOCKED    from any state but ON_HOLD: by hardened security, until the manager starts without it

Everything here is volatile (DM-004, DM-071).  That a queue is on hold or locked is also stored in its record
(AN-49), from which `Link.of` restores it after a restart.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final

import msgspec

from reliquary.base.time import Instant
from reliquary.queueing.model.message import SequenceId
from reliquary.queueing.model.queue import Outgoing
from reliquary.queueing.model.travel.carriers import Carrier

HISTORY: Final = 32
"""The number of connection attempts that are remembered."""


class OutgoingState(Enum):
    """OutgoingQueue.State: the states of an outgoing queue (DM-030)."""

    INACTIVE = "inactive"
    WAITING = "waiting"
    CONNECTED = "connected"
    DISCONNECTING = "disconnecting"
    DISCONNECTED = "disconnected"
    NEED_VALIDATION = "need-validation"
    ON_HOLD = "on-hold"
    LOCKED = "locked"


class OutgoingEvent(Enum):
    """The events that change the state of an outgoing queue."""

    HARDENED = "hardened"
    """Hardened security is on, and the destination is not reached by HTTP."""
    UNHARDENED = "unhardened"
    """The manager started without hardened security."""
    PAUSED = "paused"
    RESUMED = "resumed"
    CONNECT_BEGUN = "connect-begun"
    CONNECTED = "connected"
    FAILED = "failed"
    """The connection could not be made, or the peer did not answer on it."""
    SESSION_CLEANED_UP = "session-cleaned-up"
    """Nothing was sent for some time, so the session was closed."""
    VALIDATION_NEEDED = "validation-needed"
    """The directory must be asked where the destination is."""
    VALIDATED = "validated"
    DISCONNECT_BEGUN = "disconnect-begun"
    DISCONNECTED = "disconnected"


def _table() -> dict[tuple[OutgoingState, OutgoingEvent], OutgoingState | None]:
    """Return the table of transitions; None means that the event does not concern a queue in this state."""
    i, w, c, g = (OutgoingState.INACTIVE, OutgoingState.WAITING, OutgoingState.CONNECTED,
                  OutgoingState.DISCONNECTING)  # fmt: skip
    d, v, h, k = (OutgoingState.DISCONNECTED, OutgoingState.NEED_VALIDATION, OutgoingState.ON_HOLD,
                  OutgoingState.LOCKED)  # fmt: skip
    n = None
    # DEPARTS from 3.1.3 (DM-095): a queue on hold stays on hold when it is locked as well, because else the
    # end of hardened security would also end what an administrator ordered.
    # DEPARTS from 3.1.7.2.4 (DM-293): Resume Queue leaves a queue alone that is not on hold, because its
    # connection would be forgotten, or hardened security evaded.
    rows: dict[OutgoingEvent, tuple[OutgoingState | None, ...]] = {
        #                               from: i  w  c  g  d  v  h  k
        OutgoingEvent.HARDENED:                  (k, k, k, k, k, k, h, k),  # DM-095, DM-173
        OutgoingEvent.UNHARDENED:                (i, w, c, g, d, v, h, w),  # DM-095
        OutgoingEvent.PAUSED:                    (h, h, h, h, h, h, h, h),  # DM-292
        OutgoingEvent.RESUMED:                   (i, w, c, g, d, v, i, k),  # DM-293
        OutgoingEvent.CONNECT_BEGUN:             (w, w, w, w, w, w, n, n),
        OutgoingEvent.CONNECTED:                 (c, c, c, n, c, c, n, n),
        OutgoingEvent.FAILED:                    (i, i, i, d, d, i, n, n),
        OutgoingEvent.SESSION_CLEANED_UP:        (n, n, d, d, d, n, n, n),
        OutgoingEvent.VALIDATION_NEEDED:         (v, v, n, n, v, v, n, n),
        OutgoingEvent.VALIDATED:                 (n, n, n, n, n, w, n, n),
        OutgoingEvent.DISCONNECT_BEGUN:          (n, g, g, g, n, n, n, n),
        OutgoingEvent.DISCONNECTED:              (n, d, d, d, d, n, n, n),
    }  # fmt: skip
    columns = (i, w, c, g, d, v, h, k)
    return {(state, row): rows[row][column] for row in rows for column, state in enumerate(columns)}


NEXT: Final[Mapping[tuple[OutgoingState, OutgoingEvent], OutgoingState | None]] = _table()
SILENT: Final = frozenset({OutgoingState.ON_HOLD, OutgoingState.LOCKED})
"""Nothing leaves a queue in these states (DM-031)."""
UNCONNECTED: Final = frozenset({OutgoingState.INACTIVE, OutgoingState.DISCONNECTED, OutgoingState.WAITING})
"""In these states a waiting message needs a connection."""
# DEPARTS from 3.1.7.1.5 (AN-41): a message wakes an inactive queue too, because new and
# resumed queues are inactive and would never send anything.


class ConnectionStatus(Enum):
    """ConnectionHistory.Status: the result of an attempt to connect (DM-032)."""

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
    """One entry of ConnectionHistory: an attempt to connect."""

    status: ConnectionStatus
    time: int
    """ConnectionHistoryTime: when it was made, in seconds since 1970."""
    error: int = 0
    """An HRESULT; 0 for none."""
    addresses: tuple[str, ...] = ()
    """AddressList: the possible addresses of the next hop."""


class SequenceInfo(msgspec.Struct, frozen=True):
    """SEQUENCE_INFO, [MS-MQMQ] 2.2.5: the place of one message in a stream."""

    sequence: SequenceId
    number: int
    previous: int


class OutgoingTransfer(msgspec.Struct, frozen=True, kw_only=True):
    """OutgoingTransferInfo, 3.1.1.4: the progress of a stream, as the sending protocol reports it."""

    first_unacknowledged: SequenceInfo | None = None
    """EodFirstNonAck: the first message without an order acknowledgement."""
    last_acknowledged: SequenceInfo | None = None
    """EodLastAck: the last message with an order acknowledgement."""
    last_unacknowledged: SequenceInfo | None = None
    """EodLastNonAck: the last message without an order acknowledgement."""
    next_to_send: SequenceInfo | None = None
    """EodNextSeq: the message that is sent next."""
    acknowledged_count: int = 0
    """EodLastAckCount: how many times the last order acknowledgement came."""
    acknowledged_time: int = 0
    """EodLastAckTime: when the last order acknowledgement came, microseconds since 1970."""
    unacknowledged: int = 0
    """EodNoAckCount: messages that were sent and have no order acknowledgement yet."""
    unread: int = 0
    """EodNoReadCount: messages with an order acknowledgement that are not known to be received."""
    resent: int = 0
    """EodResendCount: how many times the last message was sent."""
    resend_interval: int = 0
    """EodResendInterval: the time between two attempts, in seconds."""
    resend_time: int = 0
    """EodResendTime: when the next attempt is made, microseconds since 1970."""


class DispatchEntry(msgspec.Struct, frozen=True):
    """DispatchEntry, 3.1.1.18: a message that is being sent (SendInProgress is True)."""

    queue: int
    lookup_id: int
    priority: int
    """The sum of the queue's BasePriority and the message's Priority."""
    size: int = 0
    """The bytes of the message."""


@dataclass(slots=True)
class Link:
    """The connection of one outgoing queue, and the messages that are being sent on it."""

    state: OutgoingState = OutgoingState.INACTIVE
    next_hops: tuple[str, ...] = ()
    history: deque[ConnectionRecord] = field(default_factory=lambda: deque(maxlen=HISTORY))
    transfer: OutgoingTransfer = field(default_factory=OutgoingTransfer)
    sending: dict[int, DispatchEntry] = field(default_factory=dict)
    """Messages that are being sent, by LookupIdentifier, in the order in which the carrier got them."""
    sending_size: int = 0
    """The bytes of these messages."""
    accepted: dict[int, DispatchEntry] = field(default_factory=dict)
    """Messages that the peer has and whose outcome is not known; they are neither sent again nor removed."""
    reached: dict[int, DispatchEntry] = field(default_factory=dict)
    """Messages that are in their destination queue and were not read yet; they are never sent again."""
    at_once: int = 1
    """The number of messages that may be sent at once."""
    most_bytes: int = 0
    """The bytes of messages that may be sent at once, and the last message beyond them; 0 for any."""
    asked: bool = False
    """The carrier was asked to connect, and has not answered."""
    failures: int = 0
    """The number of failures since the last success."""
    next_attempt: Instant | None = None
    """The time of the next attempt after a failure; None when the queue does not wait for it."""
    delivered: int = 0
    refused: int = 0
    carrier: Carrier | None = None
    """The protocol that carries its messages; None when no protocol claims the destination."""
    notified: bool = False
    """The carrier got `MessagesWaiting`, and has not asked for messages since."""
    transactional: bool | None = None
    """Whether the destination queue is transactional, as a refusal showed; None when it is not known."""
    unused: bool = False
    """The queue was idle at the last check, and was not used since."""

    @classmethod
    def of(cls, outgoing: Outgoing, carrier: Carrier | None = None) -> Link:
        """Return the link of an outgoing queue that was created, or that was read from disk."""
        link = cls(carrier=carrier)
        if outgoing.locked:
            link.happen(OutgoingEvent.HARDENED)
        if outgoing.on_hold:
            link.happen(OutgoingEvent.PAUSED)
        return link

    @property
    def resting(self) -> bool:
        """Return whether the last attempt failed, and the time of the next one has not come."""
        return self.next_attempt is not None

    def bytes_left(self) -> int:
        """Return how many bytes of messages may still be sent at once; positive if there is no limit."""
        if not self.most_bytes:
            return 1
        return self.most_bytes - self.sending_size

    def begin(self, entry: DispatchEntry) -> None:
        """Add a message that the carrier gets now."""
        self.sending[entry.lookup_id] = entry
        self.sending_size += entry.size

    def accept(self, lookup_ids: Iterable[int]) -> list[int]:
        """Record that the peer has messages; return the ones that were being sent."""
        accepted = []
        for each in lookup_ids:
            entry = self._take(each)
            if entry is not None:
                self.accepted[each] = entry
                accepted.append(each)
        return accepted

    def reach(self, lookup_ids: Iterable[int]) -> list[int]:
        """Record that messages are in their destination queues; return the ones that were being
        transferred."""
        reached = []
        for each in lookup_ids:
            entry = self.accepted.pop(each, None) or self._take(each)
            if entry is not None:
                self.reached[each] = entry
                reached.append(each)
        return reached

    def end(self, lookup_ids: Iterable[int]) -> list[int]:
        """Remove messages whose outcome is known, and return those that were being sent."""
        accepted, reached = self.accepted, self.reached
        return [
            each
            for each in lookup_ids
            if accepted.pop(each, None) or self._take(each) or reached.pop(each, None)
        ]

    def take_back(self, *, accepted: bool = False) -> tuple[int, ...]:
        """Forget the messages that are being sent, and if asked the accepted ones; return them in order."""
        found = (*self.sending, *self.accepted) if accepted else tuple(self.sending)
        self.sending, self.sending_size = {}, 0
        if accepted:
            self.accepted = {}
        return found

    def _take(self, lookup_id: int) -> DispatchEntry | None:
        entry = self.sending.pop(lookup_id, None)
        if entry is not None:
            self.sending_size -= entry.size
        return entry

    def happen(self, event: OutgoingEvent) -> None:
        """Change the state as the table `NEXT` says; an event without an entry changes nothing."""
        self.state = NEXT[self.state, event] or self.state
