"""Encodes the bind-time feature negotiation, [MS-RPCE] 2.2.2.14, 2.2.2.15 and 3.3.1.5.3.

A client offers a pretended transfer syntax: the first 8 bytes of its UUID are a constant, the last 8 are a
mask of features.  The answer is `Result.NEGOTIATE_ACK` with the features of both sides as its reason.
"""

from __future__ import annotations

from enum import IntFlag
from typing import Final
from uuid import UUID

from reliquary.wire.rpc.syntaxes import SyntaxId

_PREFIX: Final = UUID("6cb71c2c-9812-4540-0000-000000000000").bytes_le[:8]


class Feature(IntFlag):
    """Features of a client or a server beyond C706."""

    SECURITY_CONTEXTS = 0x01
    """A connection can have several security contexts, 3.3.1.5.4."""
    KEEP_ON_ORPHAN = 0x02
    """The connection stays open after an orphaned PDU, 3.3.1.5.10."""


FEATURES: Final = int(Feature.SECURITY_CONTEXTS | Feature.KEEP_ON_ORPHAN)
"""The features that this code supports."""


def offered_features(transfer: SyntaxId) -> int | None:
    """Return the features that a transfer syntax offers; None for a real transfer syntax."""
    raw = transfer.uuid.bytes_le
    if raw[:8] != _PREFIX or (transfer.major, transfer.minor) != (1, 0):
        return None
    return int.from_bytes(raw[8:], "little")


def features_syntax(features: int) -> SyntaxId:
    """Return the transfer syntax that offers features."""
    return SyntaxId(UUID(bytes_le=_PREFIX + features.to_bytes(8, "little")), 1)
