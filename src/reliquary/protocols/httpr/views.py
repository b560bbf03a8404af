"""Makes records of HTTPR's channels for administrators; it reads the state and never changes it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from reliquary.base.time import SECOND, as_datetime
from reliquary.protocols.httpr.addresses import contact_url
from reliquary.protocols.httpr.client.channel import ClientChannel
from reliquary.protocols.httpr.client.phases import Phase
from reliquary.protocols.httpr.codec.lexical import id_text
from reliquary.protocols.httpr.nouns import BatchInfo, ChannelInfo
from reliquary.protocols.httpr.server.channel import ServerChannel
from reliquary.protocols.httpr.state import HOLDER
from reliquary.protocols.httpr.state import State as HttprState
from reliquary.protocols.httpr.tables import Channel, Role
from reliquary.queueing.model.display import name_of
from reliquary.queueing.model.state import State
from reliquary.queueing.model.tables import reservation_key


def channels(state: State, httpr: HttprState) -> Iterator[ChannelInfo]:
    """Yield all channels, by their numbers."""
    for _, each in sorted(httpr.channels.items()):
        yield _view(state, httpr, each)


def channel(state: State, httpr: HttprState, number: int) -> ChannelInfo | None:
    """Return the channel of this number; None where there is none."""
    found = httpr.channels.get(number)
    return None if found is None else _view(state, httpr, found)


def _view(state: State, httpr: HttprState, each: Channel) -> ChannelInfo:
    now = (
        _at_client(httpr, each, httpr.client.channels.get(each.number))
        if each.role is Role.CLIENT
        else _at_server(httpr, each, httpr.server.channels.get(each.number))
    )
    return ChannelInfo(
        number=each.number,
        role=each.role.value,
        requester=each.requester,
        name=each.name,
        responder=each.responder,
        last_source_id=id_text(each.last_source_id),
        source_forgotten=each.source_forgotten,
        memory=each.memory.value,
        in_doubt=[_batch(state, httpr, each.number, batch) for batch in each.in_doubt],
        last_received_id=id_text(each.last_received_id),
        last_received_outcome=each.last_received_outcome.value,
        last_sent_id=id_text(each.last_sent_id),
        **now,
    )


def _batch(state: State, httpr: HttprState, number: int, batch: int) -> BatchInfo:
    reservation = state.travel.reservations.get(reservation_key(HOLDER, (number, batch)))
    queue = None if reservation is None else state.queues.get(reservation.queue)
    begun = httpr.begun.get((number, batch), 0)
    return BatchInfo(
        id=id_text(batch),
        queue="" if queue is None else name_of(state, queue),
        messages=0 if reservation is None else len(reservation.lookup_ids),
        since=as_datetime(begun) if begun else None,
    )


def _at_client(httpr: HttprState, each: Channel, known: ClientChannel | None) -> dict[str, Any]:
    """Return the record of a channel of the client agent."""
    if known is None:
        url = contact_url(each.responder, httpr.settings.peer(each.responder).url)
        return {"state": Phase.CLOSED.value, "url": url}
    resting = known.phase is Phase.RESTING
    return {
        "state": known.phase.value,
        "url": known.url,
        "session": known.session.identifier,
        "connected": known.connection.is_open,
        "unanswered": len(known.connection.pending),
        "fetches": known.fetching.enabled,
        "failures": known.retry.failures,
        "rest": known.retry.after / SECOND if resting else 0,
        "trouble": known.retry.last_error,
    }


def _at_server(httpr: HttprState, each: Channel, known: ServerChannel | None) -> dict[str, Any]:
    """Return the record of a channel of the server agent."""
    if known is None:
        return {"state": Phase.CLOSED.value, "fetches": each.pulled}
    state = Phase.WAITING if known.requests else Phase.READY if known.session else Phase.CLOSED
    return {
        "state": state.value,
        "session": "" if known.session is None else known.session.identifier,
        "connected": known.connection in httpr.server.connections,
        "unanswered": len(known.requests),
        "fetches": each.pulled,
        "trouble": known.last_error,
    }
