"""What an administrator does to traffic: Take Offline, Bring Online, Pause and Resume Queue.

[MS-MQDMPR] 3.1.4.12 to 3.1.4.15.
"""

from __future__ import annotations

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.queueing.model.events import Access, Answer, BringOnline, PauseQueue, ResumeQueue, TakeOffline
from reliquary.queueing.model.state import QueueState, State
from reliquary.queueing.model.travel.transfer import AddressesKnown, ManagerOnline
from reliquary.queueing.rules import destinations, outgoing
from reliquary.queueing.travel import dispatch


def take_offline(state: State, request: TakeOffline, now: Instant) -> None:
    """Nothing more leaves or comes from elsewhere; what is under way ends (DM-124)."""
    del now
    _set_online(state, request.to, online=False)


def bring_online(state: State, request: BringOnline, now: Instant) -> None:
    """Messages travel again, those that failed before at once (DM-125)."""
    del now
    _set_online(state, request.to, online=True)
    for queue in state.outgoing.values():
        dispatch.end_rest(state, queue)
    outgoing.announce_again(state)


def _set_online(state: State, to: int, *, online: bool) -> None:
    if ManagerOnline in state.heard and state.online is not online:
        state.draft.tell(ManagerOnline(online))
    state.online = online
    state.reply(to, Answer(HResult.OK))


def on_addresses_known(state: State, signal: AddressesKnown, now: Instant) -> None:
    """Remember which URLs of these schemes mean this manager."""
    del now
    state.own_urls |= dict.fromkeys(signal.schemes, signal)
    state.forget_names()


def pause(state: State, request: PauseQueue, now: Instant) -> None:
    """Pause Queue; pausing it twice is no error (DM-126)."""
    del now
    queue = _outgoing(state, request.to, request.destination)
    if queue is not None:
        outgoing.pause(state, queue)
        state.reply(request.to, Answer(HResult.OK))


def resume(state: State, request: ResumeQueue, now: Instant) -> None:
    """Resume Queue; one that was not paused tries again at once, where it rests (DM-127)."""
    del now
    queue = _outgoing(state, request.to, request.destination)
    if queue is not None:
        outgoing.resume(state, queue)
        dispatch.end_rest(state, queue)
        state.reply(request.to, Answer(HResult.OK))


def _outgoing(state: State, to: int, destination: str) -> QueueState | None:
    """The outgoing queue of this destination; the caller is told when there is none."""
    queue = destinations.find_named(state, destinations.read_name(state, destination, Access.SEND))
    if queue is None:
        state.reply(to, Answer(HResult.QUEUE_NOT_FOUND, f"nothing was ever sent to {destination}"))
        return None
    if queue.link is None:
        raise UsageError(f"{destination} is a queue of this manager, and no outgoing queue")
    return queue
