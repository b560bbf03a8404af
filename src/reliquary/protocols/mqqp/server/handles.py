"""Makes context handles and DWORDs that cannot be guessed; each is valid only for the client that got it."""

from __future__ import annotations

from hashlib import blake2b
from struct import Struct as Layout
from typing import TypeVar
from uuid import UUID

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE
from reliquary.protocols.mqqp.events import ClientCalled
from reliquary.protocols.mqqp.server.responding import fault, refuse
from reliquary.protocols.mqqp.server.state import ContextHandle, OpenedQueue, ServerState
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.security.principals import Principal
from reliquary.wire.rpc.statuses import FaultStatus

HandleT = TypeVar("HandleT", bound=ContextHandle)

_words = Layout("<Qq").pack


def _digest(server: ServerState, size: int, now: Instant) -> bytes:
    """Return bytes that no other call returns; `now` makes them differ from those of an earlier process."""
    server.last_handle += 1
    key = server.settings.seed[:64]
    return blake2b(_words(server.last_handle, now), digest_size=size, key=key).digest()


def new_handle(server: ServerState, now: Instant) -> UUID:
    """Return a context handle that is not NULL and not in use."""
    handle = NO_HANDLE
    while handle == NO_HANDLE or handle in server.handles:
        handle = UUID(bytes=_digest(server, 16, now))
    return handle


def new_number(server: ServerState, used: dict[int, int] | dict[int, OpenedQueue], now: Instant) -> int:
    """Return a DWORD for a queue or a cursor, which is not 0 and not in use."""
    number = 0
    while number == 0 or number in used:
        number = int.from_bytes(_digest(server, 4, now))
    return number


def queue_of(server: ServerState, number: int, by: Principal) -> OpenedQueue | None:
    """Return the queue that a client means by a DWORD; the queues of other users are unknown to it."""
    # DEPARTS from 3.1.4.1 (QP-058): only the user that opened a queue finds it, because a number of 32 bits
    # may be guessed by users whom the access list excludes.
    queue = server.queues.get(number)
    return queue if queue is not None and queue.by.user == by.user else None


def handle_of(state: State, called: ClientCalled, handle: UUID, kind: type[HandleT]) -> HandleT | None:
    """Return the object of a context handle of this client; None if the call has been answered."""
    if handle == NO_HANDLE:
        refuse(state, called, HResult.INVALID_HANDLE)  # QP-077, QP-095
        return None
    found = state.server.handles.get(handle)
    if isinstance(found, kind) and found.association.number == called.association:
        return found
    fault(state, called, FaultStatus.CONTEXT_MISMATCH)
    return None
