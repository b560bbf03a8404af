"""Find the queue that a name means: the search of Open Queue, [MS-MQDMPR] 3.1.7.1.5.

name --> expanded --> a queue of this manager
                  '-> an outgoing queue, created by the first send to this destination
"""

from __future__ import annotations

from contextlib import suppress
from functools import lru_cache
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.queueing.model.events import Access
from reliquary.queueing.model.names.expand import elements_of, expand
from reliquary.queueing.model.names.formats import (
    DirectName,
    FormatName,
    IllegalFormatName,
    MachineName,
    MulticastName,
    MultipleName,
    PrivateName,
    PublicName,
    SingleName,
    Suffix,
    is_format_name,
    key_of,
    name_of_url,
    parse_format,
)
from reliquary.queueing.model.names.pathnames import Pathname, parse
from reliquary.queueing.model.names.schemes import is_bare_url
from reliquary.queueing.model.parts.name_index import RemoteTarget, SendTarget
from reliquary.queueing.model.queue import QueueType
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.travel.carriers import Carrier
from reliquary.queueing.rules.outgoing import create_outgoing

LOCAL_HOSTS: Final = frozenset({"", ".", "localhost", "127.0.0.1", "::1"})
WAYS_LIMIT: Final = 10_000
"""The largest number of names whose destinations are cached; a full cache is emptied."""
ADMIN: Final = frozenset({Access.RECEIVE_ADMIN, Access.PEEK_ADMIN})
"""The access modes that can open an outgoing queue to read it."""


# -- names


def read_name(state: State, text: str, access: Access = Access.PEEK) -> Pathname | FormatName:
    r"""Parse a path name or a format name.

    For a send, the path `elsewhere\private$\orders` of another computer stands for DIRECT=OS:...
    A URL of an opaque scheme, `word://host/...`, always stands for DIRECT=WORD://...
    """
    identity = state.identity()
    return _read(text, access is Access.SEND, identity.computer_name, identity.qualified_computer_name)


@lru_cache(maxsize=1024)
def _read(text: str, to_send: bool, *computers: str) -> Pathname | FormatName:
    """Parse a name; `computers` are the names of this computer."""
    if is_format_name(text):
        return parse_format(text)
    if is_bare_url(text):
        return parse_format(name_of_url(text))
    path = text.replace("/", "\\")
    computer, found, rest = path.partition("\\")
    known = {"private$", "system$", *LOCAL_HOSTS, *(name.casefold() for name in computers)}
    if to_send and found and rest and computer.casefold() not in known:
        with suppress(IllegalFormatName):  # the error is then reported for the path name
            return parse_format(f"DIRECT=OS:{path}")
    return parse(text, *computers)


def expanded(state: State, text: str, access: Access) -> Pathname | FormatName | None:
    """Parse a name and resolve its distribution lists (DM-159); return None if a list is not known."""
    name = read_name(state, text, access)
    return (
        name
        if isinstance(name, Pathname)
        else expand(name, lambda guid: state.hooks.list_members(state, guid))
    )


def same(state: State, one: str, other: str) -> bool:
    """Return whether two names mean one destination."""
    first, second = (expanded(state, text, Access.SEND) for text in (one, other))
    if isinstance(first, Pathname) and isinstance(second, Pathname):
        return first.key == second.key
    if first is None or second is None:
        return False
    return _key(first) == _key(second) or (
        find_named(state, first) is not None and find_named(state, first) is find_named(state, second)
    )


def why_refused(status: HResult, target: int | str) -> str:
    """Return the sentence for a request that is refused, by the name of a queue or the number of a handle.

    >>> why_refused(HResult.QUEUE_NOT_FOUND, "ordres")
    'there is no queue ordres'
    >>> why_refused(HResult.QUEUE_EXISTS, "orders")
    'orders: a queue of this name exists already'
    >>> why_refused(HResult.ACCESS_DENIED, "system$;order-ack")
    'only the manager itself uses the queue system$;order-ack'
    >>> why_refused(HResult.ACCESS_DENIED, 7)
    'the handle was not opened for this access: open the queue for it'
    """
    if status is HResult.QUEUE_NOT_FOUND and isinstance(target, str):
        return f"there is no queue {target}"
    if status is HResult.ACCESS_DENIED and isinstance(target, str):
        return f"only the manager itself uses the queue {target}"  # DM-094
    if status is HResult.ACCESS_DENIED:
        return "the handle was not opened for this access: open the queue for it"
    if status is HResult.UNSUPPORTED_FORMATNAME_OPERATION and isinstance(target, str) and _is_public(target):
        return (  # DM-169
            f"{target} is in no directory that this manager knows; name the host instead,"
            " such as DIRECT=OS:host\\orders"
        )
    return f"{target}: {status.sentence}" if isinstance(target, str) else status.sentence


def _is_public(target: str) -> bool:
    """Return whether a name is the GUID of a public queue, and not of its journal."""
    return target.upper().startswith("PUBLIC=") and ";" not in target


def _key(name: Pathname | FormatName) -> str:
    """Return the form of a name that is equal for equal destinations."""
    return name.key if isinstance(name, Pathname) else key_of(name)


# -- queues that exist


def find(state: State, text: str) -> QueueState | None:
    """Return the queue that a path name or a format name means, or None if this manager has none."""
    return find_named(state, read_name(state, text))


def find_named(state: State, name: Pathname | FormatName) -> QueueState | None:
    """Return the queue or outgoing queue of a parsed name, or None if there is none (DM-166)."""
    if isinstance(name, Pathname):
        return state.find(name)
    if isinstance(name, MultipleName):
        return None
    return _find_own(state, name) or state.names.outgoing.get(key_of(name))


def _find_own(state: State, name: SingleName) -> QueueState | None:
    """Return the queue of this manager that a format name means, or None."""
    if isinstance(name, DirectName):
        if not is_own_address(state, name) or not name.queue_path:
            return None
        if name.scheme.opaque:
            return _find_path(state, name.queue_path)
        path = name.queue_path if "\\" in name.queue_path else f".\\{name.queue_path}"
        return state.find(parse(path))
    identifier = state.identity().identifier
    if isinstance(name, MachineName):
        return state.system_queue(name.suffix.value.casefold()) if name.computer == identifier else None
    found = None
    if isinstance(name, PublicName):
        found = state.names.by_identifier.get(name.queue)
    elif isinstance(name, PrivateName) and name.computer == identifier:
        queue = state.queues.get(name.number)
        found = queue if queue and _is_private(queue) else None
    if found is not None and isinstance(name, PublicName | PrivateName) and name.suffix is Suffix.JOURNAL:
        return state.queues.get(found.record.journal or 0)
    return found


def _find_path(state: State, path: str) -> QueueState | None:
    """Return the queue of a path name from a URL of an opaque scheme; None if it is no path name."""
    with suppress(UsageError):
        return state.find(parse(path))
    return None


def is_here(state: State, name: Pathname | FormatName) -> bool:
    """Return whether a name means a queue of this manager."""
    queue = find_named(state, name)
    return queue is not None and queue.record.outgoing is None


def is_own_address(state: State, name: DirectName) -> bool:
    """Return whether a direct name means this manager.

    In a URL the port counts too, because two managers may share a host.
    """
    scheme = name.scheme
    own = state.travel.own_urls.get(scheme.word)
    if not scheme.is_url:
        is_known = own is not None and name.host.casefold() in own.authorities
        return is_known or _is_own_host(state, name.host)
    if own is not None and own.cover(name):
        return True
    return not scheme.opaque and not name.port and _is_own_host(state, name.host)


def _is_own_host(state: State, host: str) -> bool:
    """Return whether a host name means this computer."""
    identity = state.identity()
    own = {identity.computer_name.casefold(), identity.qualified_computer_name.casefold()}
    return host.casefold() in LOCAL_HOSTS | own


def _is_private(queue: QueueState) -> bool:
    """Return whether a private name can mean this queue."""
    record = queue.record
    return record.kind is QueueType.PRIVATE and not record.is_journal and not record.deleting


# -- queues to open


def queue_for(state: State, text: str, access: Access, now: Instant) -> QueueState | HResult:
    """Return the queue of a name for this access; a send to another manager creates the outgoing queue."""
    return queue_named(state, read_name(state, text, access), access, now)


def queue_named(
    state: State, name: Pathname | FormatName, access: Access, now: Instant
) -> QueueState | HResult:
    """Return the queue of a parsed and expanded name, like `queue_for`."""
    found = look_up(state, name, access)
    return found if isinstance(found, HResult) else take(state, found, now)


def to_receive(state: State, text: str) -> QueueState | None:
    """Return the queue that a path name means to a receive; None if it is refused or no path name."""
    queue = state.names.to_receive.get(text)
    return _find_once(state, text, Access.RECEIVE, state.names.to_receive) if queue is None else queue


def to_send(state: State, text: str) -> QueueState | None:
    """Return the queue of this manager that a path name means to a send; None if there is none to send to."""
    queue = state.names.to_send.get(text)
    return _find_once(state, text, Access.SEND, state.names.to_send) if queue is None else queue


def _find_once(state: State, text: str, access: Access, known: dict[str, QueueState]) -> QueueState | None:
    """Return a queue of this manager; the answer is kept until a queue or a name changes."""
    name = read_name(state, text, access)
    found = look_up(state, name, access) if isinstance(name, Pathname) else None
    if not isinstance(found, QueueState) or found.link is not None:
        return None
    if len(known) >= WAYS_LIMIT:
        known.clear()
    known[text] = found
    return found


def take(state: State, found: QueueState | RemoteTarget, now: Instant) -> QueueState:
    """Return the queue that `look_up` found and mark it as used; create an outgoing queue if needed."""
    if isinstance(found, RemoteTarget):
        return create_outgoing(state, found.name, now, base_priority=found.base_priority)
    if found.link is not None:
        found.link.unused = False
    return found


def ways(state: State, text: str) -> tuple[SendTarget, ...] | HResult:
    """Return the destinations of a message to this name, one or several, without creating a queue."""
    found = state.names.ways.get(text) or state.names.ways_of_turn.get(text)
    if found is None:
        name = expanded(state, text, Access.SEND)
        if name is None:
            return HResult.ILLEGAL_FORMATNAME
        several: list[SendTarget] = []
        for element in (name,) if isinstance(name, Pathname) else elements_of(name):
            to = look_up(state, element, Access.SEND)
            if isinstance(to, HResult):
                return to
            several.append(SendTarget(element, to, carrier_to(state, to)))
        found = tuple(several)
        # A name that the directory resolves, for instance a list, may mean another queue in the next turn.
        if not isinstance(read_name(state, text, Access.SEND), Pathname | DirectName):
            state.names.ways_of_turn = {text: found}
        else:
            if len(state.names.ways) >= WAYS_LIMIT:
                state.names.ways.clear()
            state.names.ways[text] = found
    return found


def carrier_to(state: State, to: QueueState | RemoteTarget) -> Carrier | None:
    """Return the protocol that brings messages to a destination; None for a queue of this manager."""
    if isinstance(to, RemoteTarget):
        return state.travel.carriers.of(to.name)
    return None if to.link is None else to.link.carrier


def look_up(state: State, name: Pathname | FormatName, access: Access) -> QueueState | RemoteTarget | HResult:
    """Return the destination of a parsed and expanded name, or why it is refused; create no queue."""
    if not isinstance(name, Pathname) and not _supports(name, access):
        return HResult.UNSUPPORTED_FORMATNAME_OPERATION
    queue = find_named(state, name)
    if queue is None or (queue.record.outgoing and access not in ADMIN):
        if access is not Access.SEND or isinstance(name, Pathname | MultipleName):
            return HResult.QUEUE_NOT_FOUND  # DM-167
        return queue or _elsewhere(state, name)
    if queue.is_closed:
        return HResult.ACCESS_DENIED  # DM-094
    if access is Access.SEND and (queue.record.kind is QueueType.SYSTEM or queue.record.is_journal):
        return HResult.UNSUPPORTED_FORMATNAME_OPERATION  # DM-164
    return queue


def route(state: State, text: str, now: Instant) -> QueueState | HResult:
    """Return the queue into which a message to this destination is put."""
    return queue_for(state, text, Access.SEND, now)


def _supports(name: FormatName, access: Access) -> bool:
    """Return whether a name of this kind can be opened with this access."""
    if isinstance(name, MachineName):
        return access is not Access.SEND  # DM-164
    if isinstance(name, DirectName) and name.scheme.is_url and access not in ADMIN:
        return access is Access.SEND  # DM-163
    if isinstance(name, MulticastName) and access not in ADMIN:
        return access is Access.SEND  # DM-165
    return not isinstance(name, MultipleName)


def _elsewhere(state: State, name: SingleName) -> RemoteTarget | HResult:
    """Return a destination on another manager (DM-171), or QUEUE_NOT_FOUND if the name means this manager."""
    if isinstance(name, DirectName) and is_own_address(state, name):
        return HResult.QUEUE_NOT_FOUND  # DM-168
    if isinstance(name, PrivateName) and name.computer == state.identity().identifier:
        return HResult.QUEUE_NOT_FOUND  # DM-170
    base_priority = 0
    if isinstance(name, PublicName):
        # DEPARTS from 3.1.7.1.5 (AN-38): the directory is read once and its first answer counts,
        # because the second reading of the text can only contradict it.
        public = state.hooks.published_queue(state, name.queue)
        if public is None:
            return HResult.UNSUPPORTED_FORMATNAME_OPERATION  # DM-169
        if public.queue_manager == state.identity().identifier:
            return HResult.QUEUE_NOT_FOUND  # DM-169
        base_priority = public.base_priority  # DM-172
    return RemoteTarget(name, base_priority)
