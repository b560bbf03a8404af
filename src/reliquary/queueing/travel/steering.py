"""Controls the traffic on the order of an administrator: Take Offline, Bring Online, Pause and Resume Queue.

[MS-MQDMPR] 3.1.4.12 to 3.1.4.15.
"""

from __future__ import annotations

from typing import Final

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.queueing.model.events import Access, Answer, BringOnline, PauseQueue, ResumeQueue, TakeOffline
from reliquary.queueing.model.names.formats import DirectName
from reliquary.queueing.model.names.schemes import OS
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.state import State
from reliquary.queueing.model.travel.transfer import AddressesKnown, ManagerOnline
from reliquary.queueing.rules import destinations, outgoing
from reliquary.queueing.travel import dispatch
from reliquary.queueing.travel.loopback import HOST, NAME

_LOOPBACK: Final = DirectName(OS, HOST, "private$\\any")
"""A destination that the loop-back claims, used to find its carrier."""


def take_offline(state: State, request: TakeOffline, now: Instant) -> None:
    """Stop sending to other managers and taking from them; transfers that have begun end (DM-124)."""
    del now
    _set_online(state, request.to, online=False)


def bring_online(state: State, request: BringOnline, now: Instant) -> None:
    """Send and take messages again; queues that rest after a failure try again at once (DM-125)."""
    del now
    _set_online(state, request.to, online=True)
    for queue in state.names.outgoing.values():
        dispatch.end_rest(state, queue)
    outgoing.notify_carriers_again(state)


def _set_online(state: State, to: int, *, online: bool) -> None:
    """Store whether the manager is online, notify the protocols, and answer the request."""
    if ManagerOnline in state.subscribed and state.travel.online is not online:
        state.draft.signal(ManagerOnline(online))
    state.travel.online = online
    state.reply(to, Answer(HResult.OK))


def on_addresses_known(state: State, signal: AddressesKnown, now: Instant) -> None:
    """Store which URLs of these schemes are addresses of this manager."""
    del now
    state.travel.own_urls |= dict.fromkeys(signal.schemes, signal)
    state.forget_names()
    for queue in state.names.outgoing.values():
        _bring_home(state, queue, signal)


def _bring_home(state: State, queue: QueueState, known: AddressesKnown) -> None:
    """Assign the loop-back as carrier of an outgoing queue whose destination is this manager itself.

    An acknowledgement that was due while the manager started, before its addresses were known, waits there.
    A URL is not affected, because a protocol with URLs can send to its own manager.
    """
    name, loopback = outgoing.destination_of(queue), state.travel.carriers.of(_LOOPBACK)
    if not isinstance(name, DirectName) or name.scheme.is_url or loopback is None or loopback.name != NAME:
        return
    if name.scheme.word in known.schemes and known.cover(name):
        link = outgoing.link_of(queue)
        link.carrier, link.asked = loopback, False
        outgoing.dispatch_soon(state, queue)


def pause(state: State, request: PauseQueue, now: Instant) -> None:
    """Pause Queue: a queue that is paused already stays paused (DM-126)."""
    del now
    queue = _outgoing(state, request.to, request.destination)
    if queue is not None:
        outgoing.pause(state, queue)
        state.reply(request.to, Answer(HResult.OK))


def resume(state: State, request: ResumeQueue, now: Instant) -> None:
    """Resume Queue: also a queue that rests after a failure sends again at once (DM-127)."""
    del now
    queue = _outgoing(state, request.to, request.destination)
    if queue is not None:
        outgoing.resume(state, queue)
        dispatch.end_rest(state, queue)
        state.reply(request.to, Answer(HResult.OK))


def _outgoing(state: State, to: int, destination: str) -> QueueState | None:
    """Return the outgoing queue of a destination; if there is none, answer the request and return None."""
    queue = destinations.find_named(state, destinations.read_name(state, destination, Access.SEND))
    if queue is None:
        state.reply(to, Answer(HResult.QUEUE_NOT_FOUND, f"nothing was ever sent to {destination}"))
        return None
    if queue.link is None:
        raise UsageError(f"{destination} is a queue of this manager, and no outgoing queue")
    return queue
