"""Which of the two transfer syntaxes a stub is written in, and in which order the bytes of a number come."""

from __future__ import annotations

from typing import Final, NamedTuple


class Encoding(NamedTuple):
    """How the stubs of a presentation context are read and written."""

    wide: bool = False
    """NDR64; else NDR 2.0."""
    big_endian: bool = False
    """Only what comes in may be so; what we write is little-endian."""


NDR20: Final = Encoding()
NDR64: Final = Encoding(wide=True)
