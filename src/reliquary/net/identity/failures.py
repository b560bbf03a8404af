"""Slows down clients that guess tokens and passwords, address by address; passwords also user by user.

    failed, failed, ...   the first of an address are answered at once
    failed                each further one is answered PACE after the one before it
    anything              an answer would wait for more than LONGEST_WAIT: no proof is looked at

Right proofs are never slowed down, and one that was right at an address before is checked even while
others guess there.  A client that disconnects before its answer is still counted: guesses are counted,
not answers.  One number is kept for each address, and none for those that did not fail.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from ipaddress import IPv6Address, ip_address
from typing import Final

from reliquary.base.time import SECOND
from reliquary.net.identity.shown import Denied

AT_ONCE: Final = 10
"""The number of failures of one address that are answered without a wait."""
PACE: Final = SECOND // 2
"""The time from one answer to the next, in microseconds."""
LONGEST_WAIT: Final = 5 * SECOND
KEPT: Final = 10_000
"""The number of addresses, and of valid tokens, that are kept."""


class TooManyFailures(Denied):
    """Too many wrong tokens or passwords came from an address, or for a user."""

    status = 429
    code = "TOO_MANY_FAILURES"
    headers = ((b"retry-after", b"%d" % (LONGEST_WAIT // SECOND)),)


class Failures:
    """The addresses of wrong tokens, and the tokens that were right."""

    __slots__ = ("_answered_at", "_monotonic", "_right")

    def __init__(self, monotonic: Callable[[], int]) -> None:
        """Begin without failures; `monotonic` returns the time in microseconds."""
        self._monotonic = monotonic
        self._answered_at: dict[str, int] = {}
        """The time at which the last answer to an address leaves, the first of them back-dated."""
        self._right: dict[tuple[str, bytes], None] = {}

    def check(self, peer: str, token: bytes) -> None:
        """Refuse a token of an address whose answers wait for too long; `token` is its digest."""
        address = group_of(peer)
        waits_until = self._answered_at.get(address)
        if waits_until is None or (address, token) in self._right:
            return
        if waits_until + PACE - self._monotonic() > LONGEST_WAIT:
            raise TooManyFailures(
                "too many wrong tokens or passwords came from this address, or for this user; try again later"
            )

    def failed(self, peer: str) -> float:
        """Count an unknown token, and return the seconds until the client is answered."""
        address, now = group_of(peer), self._monotonic()
        earliest = now - (AT_ONCE - 1) * PACE
        before = self._answered_at.pop(address, earliest - PACE)
        if len(self._answered_at) >= KEPT:
            self._forget(now)
        self._answered_at[address] = at = max(before + PACE, earliest)
        return max(0, at - now) / SECOND

    def succeeded(self, peer: str, token: bytes) -> None:
        """Record that a token is right at an address."""
        known = (group_of(peer), token)
        if known not in self._right:
            if len(self._right) >= KEPT:
                del self._right[next(iter(self._right))]
            self._right[known] = None

    def _forget(self, now: int) -> None:
        """Make room: drop addresses that failed long ago, or the one that failed first."""
        old = now - AT_ONCE * PACE
        self._answered_at = {each: at for each, at in self._answered_at.items() if at > old}
        while len(self._answered_at) >= KEPT:
            del self._answered_at[next(iter(self._answered_at))]


def key_of_user(name: str) -> str:
    """Return the key for failures of a user, which differs from any address."""
    return f"user {name[:64].casefold()}"


@lru_cache(maxsize=1024)
def group_of(peer: str) -> str:
    """Return the address that is counted: for IPv6 the network of 64 bits, which is one host.

    >>> group_of("10.0.0.1"), group_of("2001:db8::1:2"), group_of("::ffff:10.0.0.1")
    ('10.0.0.1', '2001:db8::', '10.0.0.1')
    """
    try:
        address = ip_address(peer.partition("%")[0])
    except ValueError:
        return peer
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(IPv6Address(int(address) >> 64 << 64))
    return str(address)
