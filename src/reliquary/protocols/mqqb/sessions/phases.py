"""Defines the handshake of a session as a table, [MS-MQQB] 3.1.5.1 to 3.1.5.8: phase x packet kind -> action.

    initiator   DIALLING --> WAITING_ECR --> WAITING_CPR --> OPEN
    acceptor                 WAITING_EC  --> WAITING_CP  --> OPEN

EC is the packet EstablishConnection, CP is ConnectionParameters, and R stands for the response.  A packet
that does not belong to the phase closes the session without a reply (G-67).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from reliquary.protocols.mqqb.codec.packets import Packet
from reliquary.wire.packet.internal import ConnectionParameters, EstablishConnection, SessionAck


class Phase(Enum):
    """The value of SessionState; a closed session does not exist any more."""

    __hash__ = object.__hash__  # members are keys of tables that every packet asks

    DIALLING = "dialling"
    WAITING_EC = "waiting-for-establish-connection"
    WAITING_ECR = "waiting-for-establish-response"
    WAITING_CP = "waiting-for-parameters"
    WAITING_CPR = "waiting-for-parameters-response"
    OPEN = "open"


class PacketKind(Enum):
    """The kinds of packet that a session has; order and final acknowledgements are user messages."""

    __hash__ = object.__hash__  # members are keys of tables that every packet asks

    ESTABLISH = "establish-connection"
    PARAMETERS = "connection-parameters"
    SESSION_ACK = "session-ack"
    USER = "user-message"


class PacketAction(Enum):
    """The actions after a packet."""

    ANSWER_ESTABLISH = "answer-establish"
    ESTABLISHED = "established"
    ANSWER_PARAMETERS = "answer-parameters"
    OPENED = "opened"
    COUNT = "count"
    TAKE = "take"
    CLOSE = "close"


def _table() -> dict[tuple[Phase, PacketKind], PacketAction]:
    """Build the table; each row is a phase, each column a kind of packet."""
    act = PacketAction
    no = act.CLOSE
    rows: dict[Phase, tuple[PacketAction, ...]] = {
        #                  establish             parameters             session ack  user message
        Phase.DIALLING:    (no,                   no,                    no,          no),
        Phase.WAITING_EC:  (act.ANSWER_ESTABLISH, no,                    no,          no),
        Phase.WAITING_ECR: (act.ESTABLISHED,      no,                    no,          no),
        Phase.WAITING_CP:  (no,                   act.ANSWER_PARAMETERS, no,          no),
        Phase.WAITING_CPR: (no,                   act.OPENED,            no,          no),
        Phase.OPEN:        (no,                   no,                    act.COUNT,   act.TAKE),
    }  # fmt: skip
    return {(phase, kind): rows[phase][column] for phase in rows for column, kind in enumerate(PacketKind)}


STEPS: Final[Mapping[tuple[Phase, PacketKind], PacketAction]] = _table()
"""The action for each phase and kind of packet (QB-006, QB-181, QB-191, QB-199, QB-223, QB-232, QB-236)."""


def kind_of(packet: Packet) -> PacketKind:
    """Return the kind of a decoded packet (QB-023 to QB-028)."""
    if isinstance(packet, EstablishConnection):
        return PacketKind.ESTABLISH
    if isinstance(packet, ConnectionParameters):
        return PacketKind.PARAMETERS
    return PacketKind.SESSION_ACK if isinstance(packet, SessionAck) else PacketKind.USER
