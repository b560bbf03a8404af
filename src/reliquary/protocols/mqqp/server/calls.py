"""Passes a call to its method, if the client may call it, by a table of all methods.

The calls of a client and the modules that answer them:

    net --ClientCalled--> calls --+--> ports       ports and the version
                                  +--> opening     R_QMOpenRemoteQueue, RemoteQMOpenQueue
                                  +--> reading     RemoteQMStartReceive and its two sisters
                                  +--> ending      RemoteQMEndReceive
                                  +--> cancelling  RemoteQMCancelReceive
                                  +--> cursors     R_QMCreateRemoteCursor, RemoteQMCloseCursor
                                  +--> purging     RemoteQMPurgeQueue
                                  '--> closing     RemoteQMCloseQueue, R_QMCloseRemoteQueueContext
    net --ConnectionLost, AssociationLost--> rundown
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reliquary.base.hresult import HResult
from reliquary.base.ruled import Rule
from reliquary.base.time import Instant
from reliquary.protocols.mqqp.codec import qm2qm, qmcomm
from reliquary.protocols.mqqp.codec.qm2qm import Request
from reliquary.protocols.mqqp.events import ClientCalled
from reliquary.protocols.mqqp.server import (
    cancelling,
    closing,
    cursors,
    ending,
    opening,
    ports,
    purging,
    reading,
)
from reliquary.protocols.mqqp.server.responding import fault, refuse
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.security.principals import ANONYMOUS_USER
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.statuses import FaultStatus

METHODS: Final[Mapping[type[Request], Rule[State]]] = {
    qm2qm.StartReceive: reading.start_receive,
    qm2qm.EndReceive: ending.end_receive,
    qm2qm.OpenQueue: opening.open_queue,
    qm2qm.CloseQueue: closing.close_queue,
    qm2qm.CloseCursor: cursors.close_cursor,
    qm2qm.CancelReceive: cancelling.cancel_receive,
    qm2qm.PurgeQueue: purging.purge_queue,
    qm2qm.GetServerPort: ports.get_port,
    qm2qm.GetVersion: ports.get_version,
    qm2qm.StartReceive2: reading.start_receive,
    qm2qm.StartReceiveByLookupId: reading.start_receive_by_lookup_id,
    qmcomm.OpenRemoteQueue: opening.open_remote,
    qmcomm.CloseRemoteQueueContext: closing.close_context,
    qmcomm.CreateRemoteCursor: cursors.create_cursor,
    qmcomm.GetServerPort: ports.get_port,
}

FREE: Final = frozenset[type[Request]]({qm2qm.GetServerPort, qm2qm.GetVersion, qmcomm.GetServerPort})
"""The methods that a client calls before it has set up its security (QP-159)."""


def on_called(state: State, called: ClientCalled, now: Instant) -> None:
    """Pass a call to its method, if this client may call it."""
    connection = state.server.connections.get(called.connection)
    if connection is None:
        fault(state, called, FaultStatus.PROTOCOL)
        return
    connection.association.by = called.by
    kind = type(called.request)
    if kind not in FREE and _is_too_weak(state.settings, called):
        refuse(state, called, HResult.ACCESS_DENIED)
        return
    METHODS[kind](state, called, now)


def _is_too_weak(settings: MqqpSettings, called: ClientCalled) -> bool:
    """Return whether a call has less protection than the settings require; anonymous calls have none."""
    if settings.protection is Protection.NONE:
        return False  # QP-006: the access list of the queue decides
    return called.protection < settings.protection or called.by.user == ANONYMOUS_USER
