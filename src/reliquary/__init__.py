"""Reliquary, a reliable message queue manager.

It may import all rooms; applications import it.  Begin with `client.connect`.

    import reliquary

    with reliquary.connect() as qm:                 # a server; or connect("some/folder"), in process
        orders = qm.create_queue("orders", exist_ok=True)
        orders.send("hello", label="greeting", priority=5)
        message = orders.receive(timeout=5)

What is named here is what applications may rely on; all else may change.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from reliquary.client.administration import (
        AssociationInfo,
        BatchInfo,
        ChannelInfo,
        ConnectionAttempt,
        OutgoingInfo,
        SequenceInfo,
        SessionInfo,
        StreamInfo,
        TransactionInfo,
    )
    from reliquary.client.agent import AgentStatus, AsyncAgent, agent_async
    from reliquary.client.connect import connect_async
    from reliquary.client.directory import DirectoryInfo
    from reliquary.client.errors import (
        AccessDenied,
        BadRequest,
        CursorError,
        DirectoryUnavailable,
        MessageNotFound,
        NotFound,
        NotOpen,
        ObjectExists,
        OperationCancelled,
        OutcomeUnknown,
        QueueDeleted,
        QueueExists,
        QueueNotFound,
        QuotaExceeded,
        ReliquaryError,
        RemoteManagerFailed,
        ServerUnreachable,
        SharingViolation,
        StoreUnusable,
        TransactionEnded,
        TransactionNeeded,
    )
    from reliquary.client.exactly_once import AsyncExactlyOnce, Recovered
    from reliquary.client.manager import AsyncManager
    from reliquary.client.message import Message, OutgoingMessage, Sent
    from reliquary.client.queue import AsyncQueue
    from reliquary.client.records import (
        AccessEntry,
        AccessInfo,
        ActInfo,
        HistoryFileInfo,
        HistoryInfo,
        ManagerInfo,
        ReloadInfo,
        StoreDamage,
        StoreReport,
        Trace,
        TracedManager,
        TraceLine,
    )
    from reliquary.client.sync.agent import Agent, agent
    from reliquary.client.sync.exactly_once import ExactlyOnce
    from reliquary.client.sync.manager import Manager, connect
    from reliquary.client.sync.queue import Queue
    from reliquary.client.sync.transaction import Transaction
    from reliquary.client.transaction import AsyncTransaction
    from reliquary.views.queues import QueueInfo, Settings

__all__ = [
    "AccessDenied",
    "AccessEntry",
    "AccessInfo",
    "ActInfo",
    "Agent",
    "AgentStatus",
    "AssociationInfo",
    "AsyncAgent",
    "AsyncExactlyOnce",
    "AsyncManager",
    "AsyncQueue",
    "AsyncTransaction",
    "BadRequest",
    "BatchInfo",
    "ChannelInfo",
    "ConnectionAttempt",
    "CursorError",
    "DirectoryInfo",
    "DirectoryUnavailable",
    "ExactlyOnce",
    "HistoryFileInfo",
    "HistoryInfo",
    "Manager",
    "ManagerInfo",
    "Message",
    "MessageNotFound",
    "NotFound",
    "NotOpen",
    "ObjectExists",
    "OperationCancelled",
    "OutcomeUnknown",
    "OutgoingInfo",
    "OutgoingMessage",
    "Queue",
    "QueueDeleted",
    "QueueExists",
    "QueueInfo",
    "QueueNotFound",
    "QuotaExceeded",
    "Recovered",
    "ReliquaryError",
    "ReloadInfo",
    "RemoteManagerFailed",
    "Sent",
    "SequenceInfo",
    "ServerUnreachable",
    "SessionInfo",
    "Settings",
    "SharingViolation",
    "StoreDamage",
    "StoreReport",
    "StoreUnusable",
    "StreamInfo",
    "Trace",
    "TraceLine",
    "TracedManager",
    "Transaction",
    "TransactionEnded",
    "TransactionInfo",
    "TransactionNeeded",
    "agent",
    "agent_async",
    "connect",
    "connect_async",
]

_ROOMS: Final = (
    "reliquary.client.errors",
    "reliquary.client.message",
    "reliquary.client.records",
    "reliquary.views.queues",
    "reliquary.client.directory",
    "reliquary.client.administration",
    "reliquary.client.sync.manager",
    "reliquary.client.sync.queue",
    "reliquary.client.sync.transaction",
    "reliquary.client.sync.exactly_once",
    "reliquary.client.connect",
    "reliquary.client.manager",
    "reliquary.client.queue",
    "reliquary.client.transaction",
    "reliquary.client.exactly_once",
    "reliquary.client.sync.agent",
    "reliquary.client.agent",
)


def __getattr__(name: str) -> object:
    """Import a name when it is first asked for: a machine or the simulator pays for no client."""
    if name in __all__:
        for room in _ROOMS:
            found = getattr(import_module(room), name, None)
            if found is not None:
                globals()[name] = found
                return found
    raise AttributeError(f"module 'reliquary' has no attribute {name!r}")
