"""Who may come in at a mount, and as whom.

Each kind of proof is a `Credential`: a bearer token now; a session cookie or NTLM would be another.  The
protocol of the mount decides how a `Denied` is answered.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Final, Protocol

from reliquary.net.identity.origin import is_foreign
from reliquary.net.identity.shown import Denied, Shown
from reliquary.net.identity.users import Users
from reliquary.queueing.security.principals import ANONYMOUS, Principal

READS: Final = frozenset({"GET"})
"""Methods that change nothing, so that a page of another site may use them."""


class ForeignPage(Denied):
    """A page of another site asked for a change."""


class Credential(Protocol):
    """One kind of proof of identity."""

    def who(self, request: Shown) -> Principal | None:
        """Return the user that a proof stands for; None without one of this kind, Denied for a wrong one."""


class BearerToken:
    """The token of a known user, in the Authorization header."""

    __slots__ = ("_users",)

    def __init__(self, users: Users) -> None:
        self._users = users

    def who(self, request: Shown) -> Principal | None:
        """The user whose token it is."""
        authorization = request.header(b"authorization")
        return None if authorization is None else self._users.who(authorization)


class Admission:
    """Finds out who sends a request; where no credential is known, every client is anonymous."""

    __slots__ = ("_credentials", "_reads")

    def __init__(self, credentials: Sequence[Credential] = (), reads: Set[str] = READS) -> None:
        self._credentials = tuple(credentials)
        self._reads = reads

    def __call__(self, request: Shown) -> Principal:
        """The client of a request; Denied when it may not come in."""
        if request.method not in self._reads and is_foreign(request):
            raise ForeignPage("a page of another site may not ask for this")
        for credential in self._credentials:
            found = credential.who(request)
            if found is not None:
                return found
        return ANONYMOUS


def admission_of(users: Users, reads: Set[str] = READS) -> Admission:
    """The admission of a server: bearer tokens, where it has any users."""
    return Admission((BearerToken(users),) if users.any else (), reads)
