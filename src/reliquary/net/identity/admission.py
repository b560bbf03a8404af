"""Decides whether a client may use a mount, and as which user.

    request --> Host: for this server? --> Origin: a page of another site? --> Credential: which user?

Each kind of proof is a `Credential`: a bearer token, a password, or the cookie of a session of the console.
The protocol of the mount decides how a `Denied` is answered.

A client is authenticated once for each head of a connection (`Request.notes`), so no proof may depend
on the time: one that can expire must not be kept there.  The kept results are forgotten when the users
change.  A `Denied` is never kept, so every guess is counted.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from typing import Final, Protocol

from reliquary.net.identity.failures import Failures
from reliquary.net.identity.hosts import Hosts, NoHost
from reliquary.net.identity.origin import ForeignPage, differs
from reliquary.net.identity.shown import Shown
from reliquary.net.identity.users import NotKnown, Users, digest_of
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal

READS: Final = frozenset({"GET"})
"""Methods that change nothing, so that a page of another site may use them."""


class Credential(Protocol):
    """One kind of proof of identity."""

    def who(self, request: Shown) -> Principal | None:
        """Return the user of a proof; None without a proof of this kind, Denied for a wrong one."""


class BearerToken:
    """The token of a known user, in the Authorization header."""

    __slots__ = ("_failures", "_users", "_warn")

    def __init__(
        self, users: Users, failures: Failures, warn: Callable[[str, str], None] = lambda *_: None
    ) -> None:
        """`warn` is called with the address of a client whose token is unknown, and a sentence."""
        self._users = users
        self._failures = failures
        self._warn = warn

    def who(self, request: Shown) -> Principal | None:
        """Return the user of the token."""
        authorization = request.header(b"authorization")
        if authorization is None or not self._users.any:
            return None
        peer, token = request.peer, digest_of(authorization)
        self._failures.check(peer, token)
        try:
            found = self._users.who(authorization)
        except NotKnown as why:
            why.wait = self._failures.failed(peer)
            self._warn(peer, str(why))
            raise
        self._failures.succeeded(peer, token)
        return found


class Admission:
    """Finds the user that sends a request; if no credential is known, every client is anonymous."""

    __slots__ = ("_credentials", "_hosts", "_reads", "_users")

    def __init__(
        self,
        credentials: Sequence[Credential] = (),
        reads: Set[str] = READS,
        hosts: Hosts | None = None,
        users: Users | None = None,
    ) -> None:
        """Without `hosts`, a request may be for any host: the mount has a rule of its own.

        While `users` has none, no credential is checked.
        """
        self._users = users
        self._credentials = tuple(credentials)
        self._reads = reads
        self._hosts = hosts

    def at(self, hosts: Hosts, reads: Set[str] = READS, *more: Credential) -> Admission:
        """Return an admission for requests to these hosts, which also accepts `more` credentials."""
        return Admission((*more, *self._credentials), reads, hosts, self._users)

    def __call__(self, request: Shown) -> Principal:
        """Return the client of a request; Denied if it is refused."""
        host = origin = None
        several = False
        for name, value in request.fields:
            if len(name) == 4 and name.lower() == b"host":
                several = host is not None
                host = value
            elif len(name) == 6 and name.lower() == b"origin":
                origin = value
        hosts = self._hosts
        if hosts is not None:
            if host is None or several:
                raise NoHost("a request has the header Host once, RFC 9112 3.2")
            if host not in hosts.known:
                hosts.check(host)
        if origin is not None and request.method not in self._reads and differs(origin, host or b""):
            raise ForeignPage("a page of another site may not ask for this")
        if self._users is not None and not self._users.any:
            return ANONYMOUS
        for credential in self._credentials:
            found = credential.who(request)
            if found is not None:
                return found
        return ANONYMOUS


def admission_of(
    users: Users,
    failures: Failures,
    warn: Callable[[str, str], None] = lambda *_: None,
    *more: Credential,
) -> Admission:
    """Return the admission of a server: bearer tokens of its users, and `more` credentials."""
    return Admission((*more, BearerToken(users, failures, warn)), users=users)
