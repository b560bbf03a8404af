"""Defines the kinds of alarms, with their advice and their urgency.

Each kind is also an alert rule of Prometheus in deploy/alerts.yml, with the name `Reliquary` and its value,
and with this advice as its description.  `tests/deploy` compares both lists.  Only `ReliquaryDown` has no
kind: a server that is down shows no page.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

PREFIX: Final = "Reliquary"
"""The beginning of the name of every alert rule."""


class Weight(Enum):
    """The urgency of an alarm; the value is the label `severity` of its alert rule."""

    BAD = "critical"
    """Messages are refused or cannot continue."""
    LOOK = "warning"
    """No message is stopped, and an administrator should decide."""


class AlarmKind(Enum):
    """The kinds of alarms, by the names of their alert rules."""

    ACCEPTS_NOTHING = "AcceptsNothing"
    NEARLY_FULL = "NearlyFull"
    OFFLINE = "Offline"
    PEER_UNREACHABLE = "PeerUnreachable"
    PEER_REFUSES = "PeerRefuses"
    OUTGOING_PAUSED = "OutgoingPaused"
    DEAD_LETTERS = "DeadLetters"
    POISON_MESSAGES = "PoisonMessages"
    COPIES_LOST = "CopiesLost"
    TRANSACTION_IN_DOUBT = "TransactionInDoubt"
    BATCH_IN_DOUBT = "BatchInDoubt"
    CONSUMER_LOST_MESSAGES = "ConsumerLostMessages"
    HISTORY_STOPPED = "HistoryStopped"
    HISTORY_NOT_EXPORTED = "HistoryNotExported"
    ACTS_NOT_LOGGED = "ActsNotLogged"
    SYNCS_ARE_SLOW = "SyncsAreSlow"
    LOOP_IS_BUSY = "LoopIsBusy"

    @property
    def weight(self) -> Weight:
        """The urgency of alarms of this kind."""
        return Weight.BAD if self in URGENT else Weight.LOOK

    @property
    def advice(self) -> str:
        """A sentence with the advice for an administrator."""
        return ADVICE[self]


URGENT: Final = frozenset(
    {AlarmKind.ACCEPTS_NOTHING, AlarmKind.NEARLY_FULL, AlarmKind.PEER_UNREACHABLE, AlarmKind.ACTS_NOT_LOGGED}
)
ADVICE: Final = {
    AlarmKind.ACCEPTS_NOTHING: "Free disk space or wait until the store has caught up; the log says which.",
    AlarmKind.NEARLY_FULL: "Receive or purge messages, or raise the setting `quota`.",
    AlarmKind.OFFLINE: "Bring it online with `reliquary manager online`.",
    AlarmKind.PEER_UNREACHABLE: "See the last attempts with `reliquary outgoing show`; "
    "`reliquary outgoing resume` tries at once.",
    AlarmKind.PEER_REFUSES: "Read in the log why the peer refuses them; they are dead letters, unless their "
    "sender or their queue wanted none.",
    AlarmKind.OUTGOING_PAUSED: "Resume it with `reliquary outgoing resume` when the messages may leave.",
    AlarmKind.DEAD_LETTERS: "See the reason of each dead letter, then return it to its queue or delete it.",
    AlarmKind.POISON_MESSAGES: "Correct the application that reads them, then return them to their queue.",
    AlarmKind.COPIES_LOST: "Raise the quota of the queue for the copies, or create that queue.",
    AlarmKind.TRANSACTION_IN_DOUBT: "Where the coordinator will not come back, commit or abort the "
    "transaction on its page of the console, or with `reliquary transaction`.",
    AlarmKind.BATCH_IN_DOUBT: "Ask the other agent with `reliquary channel report`; if it is lost, "
    "settle the batch with `reliquary channel settle`.",
    AlarmKind.CONSUMER_LOST_MESSAGES: "Its query stops with DataLost: start it with failOnDataLoss=false or "
    "a new checkpoint, and raise the limit with `reliquary consumer set`.",
    AlarmKind.HISTORY_STOPPED: "Make room for its files, or keep fewer of them (`history.keep_days`).",
    AlarmKind.HISTORY_NOT_EXPORTED: "See that the folder of the history has room and can be written.",
    AlarmKind.ACTS_NOT_LOGGED: "Make room for the folder of the log, or give the server the right to "
    "write there.",
    AlarmKind.SYNCS_ARE_SLOW: "Give the store a disk of its own, or a faster one.",
    AlarmKind.LOOP_IS_BUSY: "Spread the load over more servers.",
}
"""The advice for each kind."""
