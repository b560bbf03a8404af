"""Strangers: clients on other computers without a proof of identity; a server with users shows them nothing.

    no users are named                    everyone is served; the loopback is the default then
    a user, or a client of this computer  access lists and roles decide
    a path of OPEN                        everyone is served: probes of an orchestrator have no proof
    GET, and anonymous_may has `look`     access lists decide, as for any anonymous client
    a page of the console                 the page leads to the sign-in
    anything else                         401

Behind a proxy on this computer every client has an address of the loopback.  So the client of a request is
also a stranger when a header field says that a proxy passed the request on.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reliquary.console.request import READS, Asked
from reliquary.net.host import is_loopback
from reliquary.net.identity.passwords import CHALLENGES
from reliquary.net.identity.shown import Denied
from reliquary.net.identity.users import UNAUTHENTICATED, Users
from reliquary.queueing.model.security.anonymous import AnonymousAct, denied
from reliquary.queueing.model.security.principals import ANONYMOUS, Principal

OPEN: Final = frozenset({"/healthz", "/readyz", "/api/v1/health"})
CONSOLE: Final = "/console"
"""Below it each page leads strangers to the sign-in; the sign-in and static files are for everyone."""
PROXIED: Final = (b"forwarded", b"x-forwarded-for", b"x-real-ip")
"""Header fields in which a proxy names its client: RFC 7239, and two that are older."""
ADVICE: Final = "send a token, or a name and a password"


class Stranger(Denied):
    """A client of another computer has not said who it is."""

    status = 401
    code = UNAUTHENTICATED
    headers = CHALLENGES


class Strangers:
    """Refuses requests of clients that have no right to ask."""

    def __init__(self, users: Users, anonymous_may: Callable[[], AnonymousAct]) -> None:
        """`anonymous_may` returns the acts that the settings allow now: a reload may change them."""
        self._users = users
        self._anonymous_may = anonymous_may

    def check(self, asked: Asked, by: Principal) -> None:
        """Raise Stranger if the client of a request is one, and may not make the request."""
        if by is not ANONYMOUS or not self._users.any or _is_from_here(asked):
            return
        if asked.path in OPEN or _is_of_console(asked.path):
            return
        if asked.method not in READS:
            raise Stranger(f"{by} may not change anything from another computer; {ADVICE}")
        if why := denied(self._anonymous_may(), by, AnonymousAct.LOOK):
            raise Stranger(f"{why}; {ADVICE}")


def _is_of_console(path: str) -> bool:
    return path in ("/", CONSOLE) or path.startswith(f"{CONSOLE}/")


def _is_from_here(asked: Asked) -> bool:
    return is_loopback(asked.peer) and not any(asked.header(name) for name in PROXIED)
