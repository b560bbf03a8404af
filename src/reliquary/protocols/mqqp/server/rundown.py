"""Closes the handles and reads of lost connections, [MS-MQQP] 3.1.6 and [MS-MQMP] 3.1.7.2.

a connection is lost       its waiting reads are ended; their messages would be lost
an association is lost     locked messages, sessions and contexts of qmcomm end (F-08)
"""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.protocols.mqqp.events import AssociationLost, ClientBound, ConnectionLost
from reliquary.protocols.mqqp.server import ending
from reliquary.protocols.mqqp.server.cancelling import end_wait
from reliquary.protocols.mqqp.server.closing import end_context, end_session
from reliquary.protocols.mqqp.server.state import Association, Connection, Ending
from reliquary.protocols.mqqp.state import State


def on_bound(state: State, event: ClientBound, now: Instant) -> None:
    """Record a connection, and the interfaces that it may call."""
    del now
    server = state.server
    connection = server.connections.get(event.connection)
    if connection is None:
        association = server.associations.setdefault(
            event.association, Association(event.association, event.peer)
        )
        connection = Connection(event.connection, association, event.peer)
        server.connections[event.connection] = association.connections[event.connection] = connection
    connection.interfaces.add(event.interface)


def on_connection_lost(state: State, event: ConnectionLost, now: Instant) -> None:
    """Forget a connection; its waiting reads get no message."""
    del now
    connection = state.server.connections.get(event.connection)
    if connection is not None:
        _forget(state, connection)


def on_association_lost(state: State, event: AssociationLost, now: Instant) -> None:
    """Run down all context handles of a client."""
    del now
    association = state.server.associations.pop(event.association, None)
    if association is None:
        return
    for connection in list(association.connections.values()):
        _forget(state, connection)
    # Restored messages must not go to a read that the end of its session will end.
    sessions = list(association.sessions.values())
    for read in [read for session in sessions for read in session.queue.pending.values()]:
        end_wait(state, read, Ending.BY_CLIENT)
    for held in list(association.held.values()):
        ending.run_down(state, held)  # QP-141, QP-142
    for session in sessions:
        end_session(state, session)  # QP-140
    for context in list(association.contexts.values()):
        end_context(state, context)


def _forget(state: State, connection: Connection) -> None:
    del state.server.connections[connection.number]
    del connection.association.connections[connection.number]
    for read in connection.reads.values():
        end_wait(state, read, Ending.UNWANTED)
