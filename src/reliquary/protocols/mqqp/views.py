"""Makes records of MQQP's associations for administrators; it reads the state and never changes it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from reliquary.protocols.mqqp.client.state import Link
from reliquary.protocols.mqqp.nouns import AssociationInfo
from reliquary.protocols.mqqp.server.state import Association
from reliquary.protocols.mqqp.state import State

IN: Final = "in"
OUT: Final = "out"


def associations(state: State) -> Iterator[AssociationInfo]:
    """Yield the clients that read here, then the remote queues that are read, each by its number."""
    for _, association in sorted(state.server.associations.items()):
        yield _incoming(association)
    for _, link in sorted(state.client.links.items()):
        yield _outgoing(state, link)


def _incoming(association: Association) -> AssociationInfo:
    queues = {
        handle.queue
        for handles in (association.contexts, association.sessions, association.held)
        for handle in handles.values()
    }
    peers = sorted({connection.peer for connection in association.connections.values()})
    interfaces = {name for connection in association.connections.values() for name in connection.interfaces}
    return AssociationInfo(
        name=f"{IN}-{association.number}",
        direction=IN,
        peer=", ".join(peers),
        user=association.by.name,
        state="open",
        connections=len(association.connections),
        interfaces=sorted(interfaces),
        contexts=len(association.contexts) + len(association.sessions) + len(association.held),
        queues=sorted(queue.name for queue in queues),
        cursors=sum(len(queue.cursors) for queue in queues),
        pending=len(association.reads),
        held=len(association.held),
    )


def _outgoing(state: State, link: Link) -> AssociationInfo:
    held = sum(len(receipt.held) for receipt in link.receipts.values())
    return AssociationInfo(
        name=f"{OUT}-{link.number}",
        direction=OUT,
        peer=link.server,
        user=state.settings.server(link.server).user,
        state=link.phase.value,
        interfaces=[],
        contexts=sum(1 for handle in (link.remote.opened, link.remote.session) if handle.int) + held,
        queues=[link.name],
        cursors=len(link.cursors),
        pending=len(link.reads) - held,
        held=held,
    )


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over all associations, by direction."""

    associations: dict[str, int]
    queues: dict[str, int]
    pending: dict[str, int]
    held: dict[str, int]


def totals(state: State) -> Totals:
    """Return the sums over all associations."""
    clients, links = state.server.associations.values(), state.client.links.values()
    held = sum(len(receipt.held) for link in links for receipt in link.receipts.values())
    return Totals(
        associations={IN: len(clients), OUT: len(links)},
        queues={IN: len(state.server.queues), OUT: len(links)},
        pending={
            IN: sum(len(each.reads) for each in clients),
            OUT: sum(len(link.reads) for link in links) - held,
        },
        held={IN: sum(len(each.held) for each in clients), OUT: held},
    )
