"""Defines the transfer syntax of a stub, and the byte order of its numbers."""

from __future__ import annotations

from typing import Final, NamedTuple


class Encoding(NamedTuple):
    """The transfer syntax and byte order of the stubs of a presentation context."""

    wide: bool = False
    """Whether the encoding is NDR64; else it is NDR 2.0."""
    big_endian: bool = False
    """Whether numbers are big-endian; only a received stub can be so, and sent stubs are little-endian."""


NDR20: Final = Encoding()
NDR64: Final = Encoding(wide=True)
