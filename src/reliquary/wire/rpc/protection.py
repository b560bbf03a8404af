"""Levels of authentication, [MS-RPCE] 2.2.1.1.8: what of a call is protected."""

from __future__ import annotations

from enum import IntEnum


class Protection(IntEnum):
    """The level of protection; each level also protects what those below it protect."""

    NONE = 1
    CONNECT = 2
    """The caller is authenticated when the connection is made, and nothing is signed."""
    CALL = 3
    """The level CALL; over a connection it means the next one, PACKET."""
    PACKET = 4
    INTEGRITY = 5
    """Each PDU is signed by its sender."""
    PRIVACY = 6
    """Each stub is encrypted too."""
