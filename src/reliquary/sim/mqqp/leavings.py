"""Lists what must be empty at the end: at the manager of a site, at its server, and at its client."""

from __future__ import annotations

from collections.abc import Mapping

from reliquary.protocols.mqqp.client.state import ClientState
from reliquary.protocols.mqqp.server.state import ServerState
from reliquary.queueing.model.state import State
from reliquary.sim.world.applications import INBOX, LEDGER
from reliquary.sim.world.register import local_name


def left_at_manager(state: State) -> Mapping[str, object]:
    """Return locks, waiting reads and handles of the queues that are read, and messages that no application
    got."""
    found = {local_name(each.record.pathname): each for each in state.queues.values()}
    queues = {name: found[name] for name in (INBOX, LEDGER)}
    return {
        "messages": {name: len(each.order) for name, each in queues.items() if len(each.order)},
        "locked messages": {
            name: list(each.order.locked) for name, each in queues.items() if each.order.locked
        },
        "reads that wait": {
            name: list(each.readers.waiting) for name, each in queues.items() if each.readers.waiting
        },
        "handles": list(state.open.handles),
        "cursors": list(state.open.cursors),
        "handles of queues of other managers": list(state.open.remote),
        "requests of clients without an answer": list(state.open.askers),
    }


def left_at_server(state: ServerState) -> Mapping[str, object]:
    """Return the clients of the server with all that they opened."""
    return {
        "associations": list(state.associations),
        "connections": list(state.connections),
        "queues that clients opened": list(state.queues),
        "context handles": list(state.handles),
        "questions to the manager": list(state.asked),
    }


def left_at_client(state: ClientState) -> Mapping[str, object]:
    """Return links to other sites, and messages that applications wait for or have locked."""
    return {
        "links": list(state.links),
        "calls": list(state.calls),
        "open queues of other sites": list(state.handles),
        "shared links": list(state.shared),
        "receipts": list(state.receipts),
        "applications that wait": list(state.waiting),
        "request numbers": list(state.requests),
        "messages that came": list(state.locked),
    }
