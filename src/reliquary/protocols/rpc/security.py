"""Defines the interface of a security provider, [MS-RPCE] 2.2.2.11 and 3.3.1.5.2.

The provider itself needs random challenges and the clock, so it is in `net/rpc`.
"""

from __future__ import annotations

from typing import Protocol

from reliquary.wire.rpc.protection import Protection


class SecurityRefused(Exception):
    """A token, a signature or a user is not accepted; the text has the reason, for the log only."""


class SecurityContext(Protocol):
    """One authentication of one connection, from the first token to the last signature."""

    @property
    def complete(self) -> bool:
        """Whether the peer is authenticated, so that signatures can be made."""

    @property
    def user(self) -> str:
        """The name of the peer's user, after `complete`."""

    @property
    def signature_size(self) -> int:
        """The length of each signature in bytes."""

    def protects(self, level: Protection) -> bool:
        """Return whether the two sides agreed on the protection of a level, after `complete`."""

    def step(self, token: bytes) -> bytes:
        """Take a token of the peer and return the next one, or nothing; SecurityRefused for a wrong one."""

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message."""

    def verify(self, message: bytes, signature: bytes) -> None:
        """Check the signature of a message; SecurityRefused when it is wrong."""

    def seal(self, before: bytes, data: bytes, after: bytes) -> tuple[bytes, bytes]:
        """Encrypt `data` and sign all three; return the encrypted data and the signature."""

    def unseal(self, before: bytes, data: bytes, after: bytes, signature: bytes) -> bytes:
        """Decrypt `data` and check the signature of all three; SecurityRefused when it is wrong."""
