"""Defines the identifiers of interfaces and transfer syntaxes that a bind offers."""

from __future__ import annotations

from typing import Final, NamedTuple
from uuid import UUID

from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding


class SyntaxId(NamedTuple):
    """p_syntax_id_t: an interface or a transfer syntax, with its version."""

    uuid: UUID
    major: int
    minor: int = 0


QM2QM: Final = SyntaxId(UUID("1088a980-eae5-11d0-8d9b-00a02453c337"), 1)
"""The interface qm2qm of [MS-MQQP] (QP-001)."""
QMCOMM: Final = SyntaxId(UUID("fdb3a030-065f-11d1-bb9b-00a024ea5525"), 1)
"""The interface of [MS-MQMP] that opens a queue for a remote read."""
MGMT: Final = SyntaxId(UUID("afa8bd80-7d8a-11c9-bef4-08002b102989"), 1)
"""The management interface that every server has, C706 appendix Q."""
EPM: Final = SyntaxId(UUID("e1af8308-5d1f-11c9-91a4-08002b14a0fa"), 3)
"""The endpoint mapper, C706 appendix O."""

NDR20_SYNTAX: Final = SyntaxId(UUID("8a885d04-1ceb-11c9-9fe8-08002b104860"), 2)
NDR64_SYNTAX: Final = SyntaxId(UUID("71710533-beba-4937-8319-b5dbef9ccc36"), 1)

ENCODINGS: Final[dict[SyntaxId, Encoding]] = {NDR20_SYNTAX: NDR20, NDR64_SYNTAX: NDR64}
"""The transfer syntaxes that are supported (QP-007)."""
