"""Defines the values that HTTPR's bytes stand for, chapters 5 and 6, without rules."""

from __future__ import annotations

from enum import Enum, IntEnum
from typing import Final

import msgspec

from reliquary.queueing.model.message import StoredBody

VERSION: Final = "HTTPR/1.0"
"""The token of the protocol version, also for version 1.1 (HR-086)."""
NOTHING: Final = 0
"""The transaction id that stands for "none yet"; sixteen zeros on the wire (HR-079, HR-105)."""
LARGEST_ID: Final = 0xFFFF_FFFF_FFFF_FFFF


class Command(Enum):
    """The command of a request."""

    GET_RESPONDER_INFO = "GET-RESPONDER-INFO"
    PUSH = "PUSH"
    PULL = "PULL"
    EXCHANGE = "EXCHANGE"
    REPORT = "REPORT"

    __hash__ = object.__hash__  # members are equal only to themselves; the hash of Enum is slower


FLOWS: Final = frozenset({Command.PUSH, Command.PULL, Command.EXCHANGE})
"""The commands that transfer messages; the others can always be used."""
SENDS: Final = frozenset({Command.PUSH, Command.EXCHANGE})
"""The commands whose requests carry a batch."""
FETCHES: Final = frozenset({Command.PULL, Command.EXCHANGE})
"""The commands whose responses may carry a batch."""


class Outcome(Enum):
    """The outcome of a batch at the sink, 6.1.10."""

    COMMIT = "COMMIT"
    ROLLBACK = "ROLLBACK"
    INDOUBT = "INDOUBT"


class Disposition(Enum):
    """The terminator of a batch, 6.2.16."""

    LAST = "last"
    ABORT = "abort"


class SessionMark(Enum):
    """Value of the header field `session`."""

    BEGIN = "begin"
    END = "end"


class ErrorNumber(IntEnum):
    """The errors of 5.6; the text on the wire is the name with hyphens, except for HTTP-R."""

    INCOMPATIBLE = 510
    RESPONDER_INVALID = 511
    CHANNEL_INVALID = 512
    RESOURCE_MANAGER_UNAVAILABLE = 513
    RESOURCE_MANAGER_TERMINATING = 514
    RESOURCE_MANAGER_CAN_NOT_STORE = 515
    ADMINISTRATOR_CLOSED = 516
    DISCONNECT_TIMEOUT_EXPIRED = 517
    SINK_NOT_KNOWN = 518
    NOT_HTTP_R = 519
    HTTP_R_PROTOCOL_ERROR = 520
    MAXIMUM_MESSAGE_SIZE_EXCEEDED = 521
    MAXIMUM_BATCH_SIZE_EXCEEDED = 522
    MAXIMUM_PIPELINE_DEPTH_EXCEEDED = 523
    INVALID_FLOW = 524
    AGENT_SECURITY = 525
    USERID_SECURITY = 526
    USER_MODULE_CLOSED = 527
    SESSION_IDENTIFIER_NOT_RECOGNISED = 528
    OUT_OF_SEQUENCE_TRANSACTION_DISCARDED = 529
    HTTP_R_VERSION_NOT_SUPPORTED = 530


NO_ERROR: Final = 0
"""The number under which answers without an error are counted."""


class Error(msgspec.Struct, frozen=True, gc=False):
    """Value of the header field `error`: its number and its text."""

    number: int
    text: str
    """The name of a known number; a peer may write any text."""

    @classmethod
    def of(cls, number: ErrorNumber) -> Error:
        """Return the error with its own text."""
        return cls(number, number.name.replace("_", "-"))


class Capabilities(msgspec.Struct, frozen=True, kw_only=True):
    """The capability vector, 6.1.5, with the values that hold by default."""

    idle_session_interval: int = 10
    """The interval of idle sessions, in seconds."""
    empty_batch_delay: int = 10_000
    """The longest delay of an empty batch, in milliseconds."""
    max_latency: int = 100
    """The longest time until the first message of a batch, in milliseconds."""
    max_wait_next: int = 100
    """The longest time until the next message of a batch, in milliseconds."""
    max_wait_batch: int = 100
    """The longest time until a batch ends, in milliseconds."""
    maximum_message_size: int = 100_000_000
    """The largest size of a message, in bytes."""
    maximum_batch_size: int = 10
    """The number of messages in a batch."""
    maximum_pipeline_depth: int = 1
    """The most pending requests, and the most batches in doubt."""
    flows: frozenset[Command] = FLOWS
    """The commands that carry messages."""
    sessions: bool = False
    """Whether SESSION is in session_support."""
    sessionless: bool = True
    """Whether SESSIONLESS is in session_support."""
    product: tuple[tuple[str, str], ...] = ()
    """Fields that the specification does not define."""


Fields = tuple[tuple[str, str], ...]
"""Names in lower case with their values."""


class RequestHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The header of a request; None and empty stand for an absent field."""

    command: Command
    version: str = VERSION
    requester: str = ""
    channel: str = ""
    responder: str = ""
    session_id: str = ""
    session: SessionMark | None = None
    capabilities: Capabilities | None = None
    transaction_id: int | None = None
    outcome: Outcome | None = None
    completed: int | None = None
    last_pushed_id: int | None = None
    forget: int | None = None
    agent_type: str = ""
    error: Error | None = None
    product: Fields = ()


class ResponseHeader(msgspec.Struct, frozen=True, kw_only=True):
    """The header of a response."""

    version: str = ""
    """Only in the answer to GET-RESPONDER-INFO."""
    responder: str = ""
    session: SessionMark | None = None
    session_id: str = ""
    capabilities: Fields | None = None
    """The capabilities that the header names; the others are as proposed."""
    transaction_id: int | None = None
    last_pulled_id: int | None = None
    outcome: Outcome | None = None
    completed: int | None = None
    agent_type: str = ""
    error: Error | None = None
    product: Fields = ()


class Carried(msgspec.Struct, frozen=True, gc=False):
    """One message of a batch."""

    header: str
    """The fields but message-size and message-encoding: `name:value` and CRLF each, unfolded."""
    body: bytes = b""
    stored: StoredBody | None = None
    """Not None: the body was so large that it is already stored on disk."""


class BatchLimits(msgspec.Struct, frozen=True):
    """The limits of a batch, checked while it is read."""

    message_bytes: int
    messages: int
