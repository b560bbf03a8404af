"""Defines the levels of authentication, [MS-RPCE] 2.2.1.1.8: which parts of a call are protected."""

from __future__ import annotations

from enum import IntEnum


class Protection(IntEnum):
    """The level of protection; each level includes the levels below it."""

    NONE = 1
    CONNECT = 2
    """The caller is authenticated when the connection is opened, and nothing is signed."""
    CALL = 3
    """The level CALL; over a connection it has the meaning of PACKET."""
    PACKET = 4
    INTEGRITY = 5
    """Each PDU is signed by its sender."""
    PRIVACY = 6
    """Each stub is encrypted too."""
