"""Defines the reasons to refuse a call: the status of a fault PDU, C706 appendix E and [MS-RPCE] 2.2.2.

A fault may have any other number too: a method may raise its own HRESULT as a fault (QP-111).
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

NEVER_SENT: Final = frozenset(
    (
        *(0x00000000, 0x80000001, 0x80000002, 0x80000003, 0xC0000005, 0xC0000006, 0xC000001D, 0xC0000096),
        *(0xC00000AA, 0xC00000FD, 0xC0000194, 0xC0000235, 0xC0000409, 0xC0000420),
    )
)
"""Statuses that a server must not send, [MS-RPCE] 3.3.3.5.1."""


class FaultStatus(IntEnum):
    """The statuses that this code sends or that its client understands."""

    ACCESS_DENIED = 0x00000005
    NO_CALL_ACTIVE = 0x000006BD
    """A request has the flag PFC_PENDING_CANCEL."""
    BAD_STUB_DATA = 0x000006F7
    """The stub cannot be read, or a value is out of its range."""
    SECURITY_ERROR = 0x00000721
    """A signature is wrong, or a token was not expected."""
    CANCELLED = 0x1C00000D
    """nca_s_fault_cancel: the client cancelled the call."""
    CONTEXT_MISMATCH = 0x1C00001A
    """The context handle belongs to another client or is of another type."""
    NO_MEMORY = 0x1C00001B
    """nca_s_fault_remote_no_memory: an auth3 cannot be read."""
    INVALID_CONTEXT_ID = 0x1C00001C
    """nca_invalid_pres_context_id: the presentation context was not agreed on."""
    UNSUPPORTED_LEVEL = 0x1C00001D
    OP_RANGE = 0x1C010002
    """nca_op_rng_error: the interface has no method with this number."""
    UNKNOWN_INTERFACE = 0x1C010003
    PROTOCOL = 0x1C01000B
    """nca_proto_error: the client broke the protocol."""
    SERVER_TOO_BUSY = 0x1C010014
    """nca_server_too_busy: more calls are outstanding than the server takes."""
