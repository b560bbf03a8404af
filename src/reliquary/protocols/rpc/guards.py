"""Protects the PDUs of calls by a security context, [MS-RPCE] 3.3.1.5.2.2.

                  header      stub and padding    trailer
integrity         signed      signed              signed
privacy           signed      encrypted           signed

Below `Protection.PACKET` nothing is protected and no token is sent.  Windows and Samba treat `PACKET` as
`INTEGRITY`, and so does this code.

Header and trailer are signed also when the two sides did not agree to sign headers.  The text of 3.3.1.5.2.2
differs, but with NTLM and its extended session security Windows, Samba and impacket sign them.
"""

from __future__ import annotations

from dataclasses import dataclass

from reliquary.protocols.rpc.fragments import Pdu
from reliquary.protocols.rpc.security import SecurityContext
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.verifier import TRAILER_ALIGNMENT, TRAILER_SIZE, Verifier


@dataclass(slots=True)
class Guard:
    """One security context of a connection."""

    kind: int
    """The security provider; DCE/RPC calls it auth_type."""
    number: int
    """The number of the security context; DCE/RPC calls it auth_context_id."""
    level: Protection
    context: SecurityContext
    refused: bool = False
    """Whether a token of an auth3 was wrong, so that no call may use the context."""

    @property
    def signs(self) -> bool:
        """Whether each PDU of a call carries a token."""
        return self.level >= Protection.PACKET

    @property
    def usable(self) -> bool:
        """Whether calls may use the context."""
        return not self.refused and self.context.complete

    def fits(self, verifier: Verifier) -> bool:
        """Return whether a PDU names the agreed type and level."""
        return (verifier.kind, verifier.level) == (self.kind, self.level)

    def verifier(self, token: bytes, padding: int = 0) -> Verifier:
        """Return the verifier at the end of a PDU of this context."""
        return Verifier(self.kind, self.level, self.number, token, padding)

    def overhead(self) -> int:
        """Return the bytes that the protection adds to a fragment whose stub is aligned."""
        return TRAILER_SIZE + self.context.signature_size

    def protect(self, head: bytes, stub: bytes) -> bytes:
        """Return a complete PDU; its header already counts the padding and the token."""
        padding = -len(stub) % TRAILER_ALIGNMENT
        body = stub + bytes(padding)
        trailer = self.verifier(b"", padding).trailer()
        if self.level is Protection.PRIVACY:
            body, token = self.context.seal(head, body, trailer)
        else:
            token = self.context.sign(head + body + trailer)
        return head + body + trailer + token

    def open(self, pdu: Pdu, stub: int, verifier: Verifier) -> bytes | memoryview:
        """Return the stub that begins at an offset of a PDU; SecurityRefused if the signature is wrong."""
        trailer = pdu.header.length - pdu.header.auth - TRAILER_SIZE
        end = trailer - verifier.padding
        if not self.signs:
            return pdu.data[stub:end]
        if self.level is not Protection.PRIVACY:
            self.context.verify(bytes(pdu.data[: trailer + TRAILER_SIZE]), verifier.token)
            return pdu.data[stub:end]
        head, body = bytes(pdu.data[:stub]), bytes(pdu.data[stub:trailer])
        after = bytes(pdu.data[trailer : trailer + TRAILER_SIZE])
        return self.context.unseal(head, body, after, verifier.token)[: end - stub]
