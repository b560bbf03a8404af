"""Sets and changes access lists: of queues, and of the manager itself."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Set
from typing import Final, TypeGuard

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant, in_whole_seconds
from reliquary.queueing.changes.apply import apply
from reliquary.queueing.directory import membership
from reliquary.queueing.model import facts
from reliquary.queueing.model.events import AccessChange, ChangeAccess, RenewAccess
from reliquary.queueing.model.queue import QueueSettings
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.principals import (
    ADMINISTRATORS,
    ANONYMOUS_USER,
    EVERYONE,
    MANAGER,
    Principal,
)
from reliquary.queueing.model.security.rights import (
    ManagerRight,
    QueueRight,
    check_descriptor,
    check_mask,
    default_descriptor,
)
from reliquary.queueing.model.state import State
from reliquary.queueing.model.waiting import WaitingReadEvent
from reliquary.queueing.rules import destinations
from reliquary.queueing.rules.handles import end_wait
from reliquary.queueing.rules.permission import Act, QueueKind, lacks, list_of, manager_list, place_of
from reliquary.wire.security import (
    INHERIT_ONLY,
    Ace,
    AceKind,
    Acl,
    OtherAce,
    SecurityDescriptor,
    Sid,
    decode_descriptor,
    encode_descriptor,
)

ENTRY_LIMIT: Final = 1000
"""The largest number of entries in one list: its size in bytes has to fit into two bytes."""


# -- the access list of a queue


def with_list(state: State, settings: QueueSettings) -> QueueSettings:
    """Create Default Queue Security Descriptor, 3.1.7.1.3.1: return settings with a complete descriptor."""
    supplied = check_descriptor(settings.security, QueueRight) if settings.security else None
    machine, http = state.directory.around.machine_sid, state.identity().http_support  # DM-146
    descriptor = default_descriptor(supplied, _creator(state), machine=machine, http_support=http)
    return msgspec.structs.replace(settings, security=encode_descriptor(descriptor))  # DM-153


def _creator(state: State) -> Sid:
    """Return the owner of a new queue.

    A queue that the manager creates for itself, for example one of its settings, belongs to the manager's
    administrators, if the manager has users.
    """
    return ADMINISTRATORS if state.turn.by is MANAGER and state.access.first_list else state.turn.by.user


def check_own_list(queue: QueueState) -> None:
    """Refuse to change the access list of a queue that has no list of its own."""
    if place_of(queue) not in (QueueKind.QUEUE, QueueKind.JOURNAL):
        raise UsageError("the manager's own queues have no access list: the manager's counts")
    if queue.record.parent is not None:
        raise UsageError("a journal or a subqueue has no access list: the one of its queue counts")


def list_named(state: State, path: str) -> tuple[bytes, type[QueueRight | ManagerRight]]:
    """Return the descriptor that applies to a queue, or to the manager if `path` is empty, and its rights."""
    if not path:
        return manager_list(state), ManagerRight
    queue = destinations.find(state, path)
    if queue is None:
        raise UsageError(f"there is no queue {path[:200]!r}")
    kind = QueueRight if place_of(queue) in (QueueKind.QUEUE, QueueKind.JOURNAL) else ManagerRight
    return list_of(state, queue), kind


def descriptor_of(security: bytes) -> SecurityDescriptor:
    """Decode a descriptor; without one, return a descriptor that allows everything to every user."""
    return decode_descriptor(security) if security else SecurityDescriptor(owner=ANONYMOUS_USER)


# -- changes


def change(state: State, request: ChangeAccess, now: Instant) -> HResult:
    """Grant, deny or revoke rights of a queue or of the manager, or set another owner."""
    if not request.path:
        _change_manager(state, request, now)
        return HResult.OK
    queue = destinations.find(state, request.path)
    if queue is None:
        return HResult.QUEUE_NOT_FOUND
    check_own_list(queue)
    security = changed(queue.record.settings.security, request, QueueRight)
    settings = msgspec.structs.replace(queue.record.settings, security=security)
    record = msgspec.structs.replace(queue.record, settings=settings, modify_time=in_whole_seconds(now))
    status = membership.change(state, record, now)
    if status is not HResult.OK:
        return status
    apply(state, facts.QueueChanged(record))
    end_forbidden_waits(state, queue)
    return HResult.OK


def _change_manager(state: State, request: ChangeAccess, now: Instant) -> None:
    security = changed(manager_list(state), request, ManagerRight)
    record = msgspec.structs.replace(state.identity(), security=security, modify_time=in_whole_seconds(now))
    apply(state, facts.ManagerNamed(record))
    for queue in state.queues.values():
        end_forbidden_waits(state, queue)


def changed(security: bytes, request: ChangeAccess, kind: type[QueueRight | ManagerRight]) -> bytes:
    """Return a descriptor with one change made to it."""
    descriptor = descriptor_of(security)
    if request.change is AccessChange.OWNER:
        return encode_descriptor(msgspec.structs.replace(descriptor, owner=request.sid))
    check_mask(request.rights, kind)
    all_users = (Ace(AceKind.ALLOWED, kind["GENERIC_ALL"].value, EVERYONE),)
    acl = all_users if descriptor.dacl is None else descriptor.dacl
    acl = _EDITS[request.change](acl, request.sid, request.rights)
    if len(acl) > ENTRY_LIMIT:
        raise UsageError(f"an access list has at most {ENTRY_LIMIT} entries, this one would have {len(acl)}")
    return encode_descriptor(msgspec.structs.replace(descriptor, dacl=acl))


def renew(state: State, event: RenewAccess) -> None:
    """Take another first list and other rights of anonymous clients into force, and end forbidden waits."""
    state.access.first_list = event.first_list
    state.access.anonymous_may = event.anonymous_may
    state.forget_names()
    for queue in state.queues.values():
        _end_waits(state, queue, event.gone)


def end_forbidden_waits(state: State, queue: QueueState) -> None:
    """End the waiting reads of users that may no longer read this queue, its subqueues or its journal."""
    members = [queue.number, *sorted(queue.subqueues), *filter(None, [queue.record.journal])]
    for member in map(state.queues.__getitem__, members):
        _end_waits(state, member)


def _end_waits(state: State, queue: QueueState, gone: Set[Principal] = frozenset()) -> None:
    for waiter in list(queue.readers.waiting.values()):
        by, act = waiter.request.by, Act.RECEIVE if waiter.destructive else Act.PEEK
        if by in gone or lacks(state, by, queue, act):
            end_wait(state, queue, waiter, WaitingReadEvent.FORBIDDEN)


# -- the entries of a list: those that deny come before those that allow


def _grant(acl: Acl, sid: Sid, rights: int) -> Acl:
    acl = _without(acl, sid, rights, (AceKind.DENIED,))
    place = next((n for n, ace in enumerate(acl) if _is_of(ace, sid, AceKind.ALLOWED)), len(acl))
    return _with(acl, place, Ace(AceKind.ALLOWED, rights, sid))


def _deny(acl: Acl, sid: Sid, rights: int) -> Acl:
    acl = _without(acl, sid, rights, (AceKind.ALLOWED,))
    place = next((n for n, ace in enumerate(acl) if _is_of(ace, sid, AceKind.DENIED)), 0)
    return _with(acl, place, Ace(AceKind.DENIED, rights, sid))


def _revoke(acl: Acl, sid: Sid, rights: int) -> Acl:
    return _without(acl, sid, rights, tuple(AceKind))


def _with(acl: Acl, place: int, ace: Ace) -> Acl:
    """Insert an entry at this place, or merge it with the entry there if kind and SID are equal."""
    present = acl[place] if place < len(acl) else None
    if present is not None and _is_of(present, ace.sid, ace.kind):
        merged = msgspec.structs.replace(ace, mask=ace.mask | present.mask)
        return (*acl[:place], merged, *acl[place + 1 :])
    return (*acl[:place], ace, *acl[place:])


def _without(acl: Acl, sid: Sid, rights: int, kinds: tuple[AceKind, ...]) -> Acl:
    """Remove these rights from the SID's entries of these kinds; an entry without rights is removed."""
    kept: list[Ace | OtherAce] = []
    for ace in acl:
        if isinstance(ace, Ace) and any(_is_of(ace, sid, kind) for kind in kinds):
            if ace.mask & ~rights:
                kept.append(msgspec.structs.replace(ace, mask=ace.mask & ~rights))
        else:
            kept.append(ace)
    return tuple(kept)


def _is_of(ace: Ace | OtherAce, sid: Sid, kind: AceKind) -> TypeGuard[Ace]:
    return isinstance(ace, Ace) and ace.kind is kind and ace.sid == sid and not ace.flags & INHERIT_ONLY


_EDITS: Final[Mapping[AccessChange, Callable[[Acl, Sid, int], Acl]]] = {
    AccessChange.GRANT: _grant,
    AccessChange.DENY: _deny,
    AccessChange.REVOKE: _revoke,
}
