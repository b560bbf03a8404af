"""Describes associations as a noun of administration.

Remote readers here, and remote queues that are read.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import msgspec

from reliquary.base.hresult import HResult
from reliquary.protocols.mqqp.events import CloseAssociation
from reliquary.queueing.model.administration import Act, Listing, Machines, Noun, RecordFormat


class AssociationInfo(msgspec.Struct, frozen=True, kw_only=True):
    """An association of DCE/RPC at the time of the request: the state that one client has at one server."""

    name: str
    """`in-5` for a client that reads here, `out-3` for a queue of another manager that is read from here."""
    direction: str
    """The direction of the session: `in` or `out`."""
    peer: str
    """The address of the client, or the host of the server."""
    user: str
    """The user that reads; empty for an anonymous reader."""
    state: str
    """`open`, or for an outgoing association the step of the connection set-up."""
    connections: int = 0
    """The TCP connections of a client; 0 for an outgoing association."""
    interfaces: list[str]
    """The interfaces that its connections are bound to: `qmcomm`, `qm2qm`."""
    contexts: int
    """Context handles of the client: opened queues, sessions, and messages that it locks."""
    queues: list[str]
    """The queues that are open."""
    cursors: int
    pending: int
    """The reads that wait for a message."""
    held: int
    """Messages that were handed out, and are locked until their reader acknowledges or returns them."""


def _associations(machines: Machines) -> Iterator[AssociationInfo]:
    from reliquary.protocols.mqqp.machine import Mqqp
    from reliquary.protocols.mqqp.views import associations

    return associations(machines.machine(Mqqp).state)


def _association(machines: Machines, name: str) -> AssociationInfo | None:
    return next((each for each in _associations(machines) if each.name == name), None)


RPC: Final = Noun(
    name="rpc",
    plural="rpc",
    record=AssociationInfo,
    summary="List, show and close the associations of DCE/RPC: queues that are read over MQQP.",
    listing=Listing(
        records=_associations,
        columns=("name", "peer", "user", "state", "queues", "contexts", "cursors", "pending", "held"),
        help="List the clients that read queues here, and the queues of other managers that are read.\n\n"
        "`pending` are reads that wait; `held` are messages that were handed out and not acknowledged.",
    ),
    showing=RecordFormat(
        key="name",
        kind=str,
        record=_association,
        missing=HResult.OBJECT_NOT_FOUND,
        missing_sentence="there is no association {}",
        help="Show all that is known of association NAME.",
        example="in-1",
    ),
    acts=(
        Act(
            verb="close",
            event=CloseAssociation,
            help="Close association NAME: its connections end, reads that wait are cancelled, and messages "
            "that it holds are there again.",
        ),
    ),
)
