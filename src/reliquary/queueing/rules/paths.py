"""Find the path name and the computer of a format name: Get Queue Path, [MS-MQDMPR] 3.1.7.1.26."""

from __future__ import annotations

from reliquary.base.hresult import HResult
from reliquary.queueing.model.events import PathAnswer
from reliquary.queueing.model.names.formats import DirectName, PrivateName, PublicName, parse_format
from reliquary.queueing.model.state import State
from reliquary.queueing.rules.destinations import find_named

UNKNOWN = PathAnswer(HResult.ILLEGAL_FORMATNAME, "the directory does not know whose name this is")


def get_queue_path(state: State, text: str) -> PathAnswer:
    """Return path name and computer of a format name, as far as they are known (DM-262)."""
    name = parse_format(text)
    match name:
        case DirectName():
            return _direct(name)
        case PublicName():
            return _public(state, name)
        case PrivateName():
            return _private(state, name)
        case _:
            return PathAnswer(HResult.OK)


def _direct(name: DirectName) -> PathAnswer:
    """Return the path and the computer in a direct name (DM-259)."""
    if name.scheme.is_url:
        return PathAnswer(HResult.OK, machine=name.host)
    return PathAnswer(HResult.OK, path=f"{name.address}\\{name.path}", machine=name.address)


def _public(state: State, name: PublicName) -> PathAnswer:
    """Return the path of a public queue: a queue of this manager, or one in the directory (DM-260)."""
    own = find_named(state, name)
    if own is not None and own.record.outgoing is None:
        return PathAnswer(HResult.OK, path=own.record.pathname, machine=state.identity().computer_name)
    queue = state.hooks.published_queue(state, name.queue)
    if queue is None:
        return UNKNOWN
    return PathAnswer(
        HResult.OK, path=queue.pathname, machine=state.hooks.computer_name(state, queue.queue_manager)
    )


def _private(state: State, name: PrivateName) -> PathAnswer:
    """Return the path of a private queue; of another manager only the computer is known (DM-261)."""
    # DEPARTS from 3.1.7.1.26 (AN-39): the name's ComputerGuid is what is compared with our own
    # identifier, because a private name has no other GUID.
    identity = state.identity()
    if name.computer == identity.identifier:
        own = find_named(state, name)
        return PathAnswer(HResult.OK, path=own.record.pathname if own else "", machine=identity.computer_name)
    machine = state.hooks.computer_name(state, name.computer)
    return PathAnswer(HResult.OK, machine=machine) if machine else UNKNOWN
