"""Decides whether our client agent sends an outgoing queue, or the peer fetches its messages."""

from __future__ import annotations

from reliquary.protocols.httpr.addresses import agent_of
from reliquary.protocols.httpr.state import State
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingEvent
from reliquary.queueing.model.travel.transfer import ConnectionChanged


def is_fetcher(state: State, responder: str) -> bool:
    """Return whether this agent fetches its messages, so that the client agent sends none."""
    return agent_of(responder) in state.fetchers


def leave_to_fetcher(state: State, requester: str) -> None:
    """Report the outgoing queues to this agent as connected, because it now fetches their messages."""
    agent = agent_of(requester)
    for queue, destination in state.waiting.items():
        if agent_of(destination) == agent:
            report_connected(state, queue)


def report_connected(state: State, queue: int, *addresses: str) -> None:
    """Report to the queue manager that an outgoing queue has its connection."""
    established = ConnectionStatus.ESTABLISHED
    state.draft.signal(ConnectionChanged(queue, OutgoingEvent.CONNECTED, established, addresses=addresses))
