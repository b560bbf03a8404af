"""The handshake of a session as one table, [MS-MQQB] 3.1.5.1 to 3.1.5.8: phase x kind of packet -> step.

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
    """SessionState; a session that is closed does not exist any more."""

    __hash__ = object.__hash__  # members are keys of tables that every packet asks

    DIALLING = "dialling"
    WAITING_EC = "waiting-for-establish-connection"
    WAITING_ECR = "waiting-for-establish-response"
    WAITING_CP = "waiting-for-parameters"
    WAITING_CPR = "waiting-for-parameters-response"
    OPEN = "open"


class Kind(Enum):
    """The kinds of packet that a session has; order and final acknowledgements are user messages."""

    __hash__ = object.__hash__  # members are keys of tables that every packet asks

    ESTABLISH = "establish-connection"
    PARAMETERS = "connection-parameters"
    SESSION_ACK = "session-ack"
    USER = "user-message"


class Step(Enum):
    """The consequences of a packet."""

    ANSWER_ESTABLISH = "answer-establish"
    ESTABLISHED = "established"
    ANSWER_PARAMETERS = "answer-parameters"
    OPENED = "opened"
    COUNT = "count"
    TAKE = "take"
    CLOSE = "close"


def _table() -> dict[tuple[Phase, Kind], Step]:
    """Build the table; each row is a phase, each column a kind of packet."""
    no = Step.CLOSE
    rows: dict[Phase, tuple[Step, ...]] = {
        #                  establish              parameters              session ack  user message
        Phase.DIALLING:    (no,                    no,                     no,          no),
        Phase.WAITING_EC:  (Step.ANSWER_ESTABLISH, no,                     no,          no),
        Phase.WAITING_ECR: (Step.ESTABLISHED,      no,                     no,          no),
        Phase.WAITING_CP:  (no,                    Step.ANSWER_PARAMETERS, no,          no),
        Phase.WAITING_CPR: (no,                    Step.OPENED,            no,          no),
        Phase.OPEN:        (no,                    no,                     Step.COUNT,  Step.TAKE),
    }  # fmt: skip
    return {(phase, kind): rows[phase][column] for phase in rows for column, kind in enumerate(Kind)}


STEPS: Final[Mapping[tuple[Phase, Kind], Step]] = _table()
"""QB-181, QB-191, QB-199, QB-223, QB-232, QB-236."""


def kind_of(packet: Packet) -> Kind:
    """Return the kind of a decoded packet (QB-023 to QB-028)."""
    if isinstance(packet, EstablishConnection):
        return Kind.ESTABLISH
    if isinstance(packet, ConnectionParameters):
        return Kind.PARAMETERS
    return Kind.SESSION_ACK if isinstance(packet, SessionAck) else Kind.USER
