"""Counts wrong proofs of NTLM by address and by user, as those of HTTP are, and slows their clients down.

    right    taken, also while others guess, if it was right at this address before
    wrong    logged; the first are refused at once, each further one later than the one before it
    many     no proof is taken, also a right one that is new at this address

The limits are those of `net/identity/failures`, which all protocols share.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from typing import Protocol

from reliquary.net.identity.failures import Failures, TooManyFailures, key_of_user
from reliquary.protocols.rpc.security import SecurityRefused


class GuessingClient(Protocol):
    """A connection whose client shows proofs."""

    @property
    def host(self) -> str:
        """The address of the client, at which its failures count."""

    def slow_down(self, wait: float) -> None:
        """Answer the client after this number of seconds, and read nothing from it until then."""


class Guesses:
    """The proofs of NTLM that all connections of a server show."""

    __slots__ = ("_failures", "_warn")

    def __init__(self, failures: Failures, warn: Callable[[str, str], None] = lambda *_: None) -> None:
        """`warn` is called with the address of a client whose proof is wrong, and a sentence."""
        self._failures = failures
        self._warn = warn

    def judge(self, client: GuessingClient, user: str, nt_hash: str) -> None:
        """Note the proof of a client for a user, with the hash that it fits, or an empty text if it is wrong.

        SecurityRefused says that too many proofs were wrong.
        """
        keys = (client.host, key_of_user(user))
        proof = sha256(f"{user.casefold()} {nt_hash}".encode(errors="replace")).digest() if nt_hash else b""
        try:
            for key in keys:
                self._failures.check(key, proof)
        except TooManyFailures as why:
            raise SecurityRefused(str(why)) from why
        if nt_hash:
            for key in keys:
                self._failures.succeeded(key, proof)
            return
        client.slow_down(max([self._failures.failed(key) for key in keys]))
        self._warn(client.host, "the name and the password that NTLM proves belong to no user")
