"""A provider of security for tests: its tokens are words, and its signatures count the PDUs.

legs    3: hello, challenge, proof           as NTLM: the last token gets no answer
        4: hello, challenge, proof, welcome  as SPNEGO
"""

from __future__ import annotations

import hashlib

from reliquary.protocols.rpc.security import SecurityRefused
from reliquary.wire.rpc.protection import Protection

NTLM = 10
SPNEGO = 9
SIZE = 16


class Pretended:
    """One end of an authentication."""

    signature_size = SIZE

    def __init__(self, legs: int = 3, user: str = "anna", strongest: Protection = Protection.PRIVACY) -> None:
        self.complete = False
        self.user = ""
        self._legs = legs
        self._name = user
        self._strongest = strongest
        self._made = 0
        self._checked = 0

    def protects(self, level: Protection) -> bool:
        return level <= self._strongest

    def sign(self, message: bytes) -> bytes:
        self._made += 1
        return _digest(self._made, message)

    def verify(self, message: bytes, signature: bytes) -> None:
        self._checked += 1
        if signature != _digest(self._checked, message):
            raise SecurityRefused("the signature is wrong")

    def seal(self, before: bytes, data: bytes, after: bytes) -> tuple[bytes, bytes]:
        return _hidden(data), self.sign(before + data + after)

    def unseal(self, before: bytes, data: bytes, after: bytes, signature: bytes) -> bytes:
        plain = _hidden(data)
        self.verify(before + plain + after, signature)
        return plain


class PretendedClient(Pretended):
    """The end that opens the connection."""

    def step(self, token: bytes) -> bytes:
        match token:
            case b"":
                return b"hello"
            case b"challenge":
                self.complete = self._legs == 3
                return b"proof of " + self._name.encode()
            case b"welcome":
                self.complete = True
                return b""
            case _:
                raise SecurityRefused(f"the server says {token!r}")


class PretendedServer(Pretended):
    """The end that accepts the connection; it knows Anna and Otto."""

    def step(self, token: bytes) -> bytes:
        if token == b"hello":
            return b"challenge"
        word, _, name = token.partition(b"proof of ")
        if word or name not in {b"anna", b"otto"}:
            raise SecurityRefused(f"the client says {token!r}")
        self.user = name.decode()
        self.complete = True
        return b"welcome" if self._legs == 4 else b""


def pretended_server(auth_type: int) -> PretendedServer | None:
    """Make the server's end, as `ServerConnection` asks for it."""
    legs = {NTLM: 3, SPNEGO: 4}.get(auth_type)
    return None if legs is None else PretendedServer(legs)


def _digest(number: int, message: bytes) -> bytes:
    return hashlib.sha256(number.to_bytes(4, "little") + message).digest()[:SIZE]


def _hidden(data: bytes) -> bytes:
    return bytes(byte ^ 0x5A for byte in data)
