"""NTLM and SPNEGO for DCE/RPC, with pyspnego ([MS-RPCE] 2.2.1.1.7, [MS-NLMP], [MS-SPNG]).

    auth type   10 (NTLM)        client --NEGOTIATE--> --CHALLENGE--> --AUTHENTICATE-->
                 9 (SPNEGO)      the three of NTLM in envelopes, and one more in answer
    level        integrity       `sign` and `verify`: header, stub and trailer as one message
                 privacy         `seal` and `unseal`: the stub is encrypted, header and trailer are signed

Only NTLM version 2 is supported.  A server accepts users with an NT hash in its settings; the domain of
a client is ignored.  An anonymous client comes without authentication, not with an empty name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import spnego
from spnego import ContextProxy, ContextReq, NegotiateOptions
from spnego.exceptions import SpnegoError
from spnego.iov import BufferType, IOVBuffer

from reliquary.net.identity.users import Users
from reliquary.net.rpc.ntlm_claims import Claim, claim_in, judging
from reliquary.protocols.rpc.security import SecurityContext, SecurityRefused
from reliquary.queueing.model.security.principals import Principal
from reliquary.wire.rpc.protection import Protection

SPNEGO: Final = 9
NTLM: Final = 10
MECHANISMS: Final = {SPNEGO: "negotiate", NTLM: "ntlm"}
"""The name that pyspnego has for each authentication type."""
OPTIONS: Final = {
    "negotiate": NegotiateOptions.use_negotiate | NegotiateOptions.use_ntlm,
    "ntlm": NegotiateOptions.use_ntlm,
}
"""Options that select pyspnego's own NTLM on every system."""
ACCEPT_COMPLETED: Final = bytes.fromhex("a1073005a0030a0100")
"""The last token of SPNEGO, RFC 4178 4.2.2: a NegTokenResp with negState 0 and nothing else."""
SIGNATURE_SIZE: Final = 16
KEY_SIZE: Final = 16


def _take_every_proof(user: str, nt_hash: str) -> None:
    del user, nt_hash


def ntlm_server(
    users: Users, judge: Callable[[str, str], None] = _take_every_proof
) -> Callable[[int], SecurityContext | None]:
    """Return a function that makes the security context of a new connection, by its authentication type.

    `judge` is called with the user that a client claims to be, and with the hash that its proof fits,
    empty for a wrong proof; its SecurityRefused refuses the client.
    """

    def secure(auth_type: int) -> SecurityContext | None:
        mechanism = MECHANISMS.get(auth_type)
        return None if mechanism is None else NtlmServer(users, mechanism, judge)

    return secure


def ntlm_client(user: str, password: str, auth_type: int, host: str) -> SecurityContext:
    """Return a security context that proves to a host that we are a user; a domain may stand before it."""
    return NtlmClient(user, password, MECHANISMS[auth_type], host)


class _Ntlm:
    """The common part of client and server: everything after the last token."""

    __slots__ = ("_complete", "_context", "user")

    _context: ContextProxy

    def __init__(self) -> None:
        self._complete = False
        self.user = ""

    @property
    def complete(self) -> bool:
        """Whether the peer is authenticated."""
        return self._complete

    @property
    def signature_size(self) -> int:
        """The size of a signature of NTLM: 16 bytes."""
        return SIGNATURE_SIZE

    def protects(self, level: Protection) -> bool:
        """Return whether both sides agreed on the signatures or the encryption that a level needs."""
        if level < Protection.PACKET:
            return True
        needed = ContextReq.confidentiality if level is Protection.PRIVACY else ContextReq.integrity
        return bool(self._context.context_attr & needed)

    def sign(self, message: bytes) -> bytes:
        """Return the signature of a message."""
        with _refusals():
            return self._context.sign(message)

    def verify(self, message: bytes, signature: bytes) -> None:
        """Check the signature of a message."""
        with _refusals():
            self._context.verify(message, signature)

    def seal(self, before: bytes, data: bytes, after: bytes) -> tuple[bytes, bytes]:
        """Encrypt the middle part and sign all three."""
        with _refusals():
            parts = self._context.wrap_iov(_buffers(True, before, data, after)).buffers
        return parts[2].data or b"", parts[0].data or b""

    def unseal(self, before: bytes, data: bytes, after: bytes, signature: bytes) -> bytes:
        """Decrypt the middle part and check the signature of all three."""
        with _refusals():
            parts = self._context.unwrap_iov(_buffers(signature, before, data, after)).buffers
        return parts[2].data or b""

    def _step(self, token: bytes) -> bytes:
        """Let pyspnego take a token, and refuse a session without a whole key."""
        with _refusals():
            answer = self._context.step(token or None)
        self._complete = self._context.complete
        if self._complete and len(self._context.session_key) != KEY_SIZE:
            self._complete = False
            raise SecurityRefused("the session key does not have 128 bits")
        return answer or b""


def _buffers(signature: bytes | bool, before: bytes, data: bytes, after: bytes) -> tuple[IOVBuffer, ...]:
    """Return the parts of a message in the form of pyspnego; a signature of True is to be made."""
    return (
        IOVBuffer(BufferType.header, signature),
        IOVBuffer(BufferType.sign_only, before),
        IOVBuffer(BufferType.data, data),
        IOVBuffer(BufferType.sign_only, after),
    )


class NtlmClient(_Ntlm):
    """The client side of a connection."""

    __slots__ = ()

    def __init__(self, user: str, password: str, mechanism: str, host: str) -> None:
        super().__init__()
        self._context = spnego.client(
            user,
            password,
            hostname=host,
            context_req=ContextReq.default | ContextReq.dce_style,
            protocol=mechanism,
            options=OPTIONS[mechanism],
        )

    def step(self, token: bytes) -> bytes:
        """Take a token of the server, none at the beginning, and return the next one."""
        return self._step(token)


class NtlmServer(_Ntlm):
    """The server side of a connection."""

    __slots__ = ("_judge", "_principal", "_users")

    def __init__(self, users: Users, mechanism: str, judge: Callable[[str, str], None]) -> None:
        super().__init__()
        self._users = users
        self._judge = judge
        self._principal: Principal | None = None
        """The user that the client has proved to be."""
        with judging(None):
            self._context = spnego.server(protocol=mechanism, options=OPTIONS[mechanism])

    @property
    def complete(self) -> bool:
        """Whether the client is known: not before its last token, nor after its user has changed."""
        return self._complete and (self._principal is None or self._users.knows(self._principal))

    def step(self, token: bytes) -> bytes:
        """Take a token of the client and return the next one, or nothing after the last."""
        claim = claim_in(token)
        answer = self._check(token, None) if claim is None else self._prove(token, claim)
        proved = self._context.client_principal
        if proved is None:
            return answer
        # The name that pyspnego has judged: a later token of SPNEGO may claim another, and prove nothing.
        self._principal = self._users.named(proved.rpartition("\\")[2])
        self.user = self._principal.name
        if not self._complete and not self.protects(Protection.INTEGRITY):
            # RFC 4178 5: without integrity there is no signature for which pyspnego could wait.
            self._complete = True
            return ACCEPT_COMPLETED
        return answer

    def _prove(self, token: bytes, claim: Claim) -> bytes:
        """Take the token with the proof of a user, and let it be judged, whether it is right or wrong."""
        nt_hash = self._users.nt_hash_of(claim.user)
        try:
            if not nt_hash:
                raise SecurityRefused(f"no user {claim.user[:80]!r} has an NT hash")
            answer = self._check(token, claim, nt_hash)
        except SecurityRefused:
            self._judge(claim.user, "")
            raise
        try:
            self._judge(claim.user, nt_hash)
        except SecurityRefused:
            self._complete = False
            raise
        return answer

    def _check(self, token: bytes, claim: Claim | None, nt_hash: str = "") -> bytes:
        with judging(claim, nt_hash):
            return self._step(token)


@contextmanager
def _refusals() -> Iterator[None]:
    """Refuse a token or a signature that pyspnego does not accept."""
    try:
        yield
    except SecurityRefused:
        raise
    except SpnegoError as why:
        raise SecurityRefused(str(why)) from why
    except Exception as why:  # pyspnego reads foreign bytes without checks of its own
        raise SecurityRefused(f"the token cannot be read: {why!r}") from why
