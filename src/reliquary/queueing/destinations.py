"""Which queue a name means: Open Queue, [MS-MQDMPR] 3.1.7.1.5, as far as it looks for one (DM-166)."""

from __future__ import annotations

from typing import Final

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.queueing.formats import (
    DirectName,
    MachineName,
    PrivateName,
    PublicName,
    SingleName,
    Suffix,
    is_format_name,
    parse_single,
)
from reliquary.queueing.names import parse
from reliquary.queueing.queue import QueueType
from reliquary.queueing.state import QueueState, State

LOCAL_HOSTS: Final = frozenset({".", "localhost", "127.0.0.1", "::1"})


def find(state: State, name: str) -> QueueState | None:
    """The queue of this manager that a path name or a format name means."""
    if is_format_name(name):
        return find_by_format(state, parse_single(name))
    return state.find(state.parse(name))


def route(state: State, name: str, now: Instant) -> QueueState | HResult:
    """The queue that a message takes on its way to this destination."""
    del now
    queue = find(state, name)
    return queue if queue is not None else HResult.QUEUE_NOT_FOUND


def find_by_format(state: State, name: SingleName) -> QueueState | None:
    """The queue of this manager that a format name means."""
    if isinstance(name, DirectName):
        if not is_local_host(state, name.host) or not name.queue_path:
            return None
        path = name.queue_path if "\\" in name.queue_path else f".\\{name.queue_path}"
        return state.find(parse(path))
    identifier = state.identity().identifier
    if isinstance(name, MachineName):
        return state.system_queue(name.suffix.value.casefold()) if name.computer == identifier else None
    found = None
    if isinstance(name, PublicName):
        found = state.by_identifier.get(name.queue)
    elif isinstance(name, PrivateName) and name.computer == identifier:
        queue = state.queues.get(name.number)
        found = queue if queue and _is_private(queue) else None
    if found is not None and isinstance(name, PublicName | PrivateName) and name.suffix is Suffix.JOURNAL:
        return state.queues.get(found.record.journal or 0)
    return found


def is_local_host(state: State, host: str) -> bool:
    """Whether this address is our own."""
    identity = state.identity()
    own = {identity.computer_name.casefold(), identity.qualified_computer_name.casefold()}
    return host.casefold() in LOCAL_HOSTS | own


def _is_private(queue: QueueState) -> bool:
    record = queue.record
    return record.kind is QueueType.PRIVATE and not record.is_journal and not record.deleting
