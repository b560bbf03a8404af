"""Defines the limits for one client: contexts, calls, bytes."""

from __future__ import annotations

from typing import Final

import msgspec

LEAST_FRAGMENT: Final = 1432
"""MustRecvFragSize: every implementation takes fragments of this length, C706 12.6.3.1."""
UNSAID_FRAGMENT: Final = 2048
"""The fragment length for a client that names one that is not allowed, as in Windows and Samba."""


class Limits(msgspec.Struct, frozen=True, gc=False, kw_only=True):
    """The limits of one accepted connection."""

    contexts: int = 32
    """The most presentation contexts of a connection."""
    calls: int = 64
    """The most calls without an answer."""
    stub: int = 4_700_000
    """The most bytes of the stub of a request."""
    fragment: int = 5840
    """The most bytes of a PDU, in both directions."""
    logins: int = 16
    """The most security contexts of a connection."""


def agreed_fragment(transmit: int, receive: int, own: int) -> int:
    """Return the length of fragments in both directions, a multiple of 8, from the offers of both sides."""
    asked = min(transmit, receive, own)
    return (asked if asked >= LEAST_FRAGMENT else UNSAID_FRAGMENT) & ~7
