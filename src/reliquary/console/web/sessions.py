"""Manages the sessions of the console: a cookie for each browser, kept in the memory of the server.

    POST /console/sign-in  token --> the user of that token --> Session, its cookie
    any request            cookie --> Session --> the user
    GET, sent by a script  the user too, but the session stays idle, because no person acted
    POST (any form)        hidden field `csrf` --> must be that of the session

The cookie is HttpOnly and SameSite=Strict, so no script reads it and no other site sends it.  A session
ends when it is not used for an hour, twelve hours after it began, at sign-out, with the process, and
when the settings are read again and its user was removed or changed.  A server without users has no
sign-in: each client is anonymous, and all browsers share one `csrf` of the process.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from dataclasses import dataclass
from hashlib import blake2b
from hmac import compare_digest
from http.cookies import CookieError, SimpleCookie
from typing import Final

from reliquary.base.chance import Chance
from reliquary.base.time import SECOND
from reliquary.net.identity.shown import Shown
from reliquary.queueing.model.security.principals import Principal

COOKIE: Final = "reliquary_session"
IDLE: Final = 3600 * SECOND
LONGEST: Final = 12 * 3600 * SECOND
MOST: Final = 1000
"""The most sessions at a time; the one that was idle for the longest time is removed for a new one."""
_BITS: Final = 256


@dataclass(slots=True)
class Session:
    """One browser of one user."""

    user: Principal
    csrf: str
    began: int
    used: int


class Sessions:
    """The sessions of a server; a credential for `Admission`."""

    def __init__(self, chance: Chance, monotonic: Callable[[], int], manager: str = "") -> None:
        """`manager` is part of the name of the cookie: browsers keep one cookie of a name for all ports of a
        host, and each of them may have a console.
        """
        self.cookie = f"{COOKIE}_{manager}" if manager else COOKIE
        self._chance = chance
        self._monotonic = monotonic
        self._open: dict[str, Session] = {}
        """Sessions by the value of their cookie; the latest used one is last."""
        self._anonymous_csrf = self._secret()
        self._key = chance.bits(_BITS).to_bytes(_BITS // 8, "big")

    def begin(self, user: Principal) -> str:
        """Begin a session, and return the value of its cookie."""
        if len(self._open) >= MOST:
            del self._open[next(iter(self._open))]
        now, key = self._monotonic(), self._secret()
        self._open[key] = Session(user, self._secret(), now, now)
        return key

    def end(self, request: Shown) -> None:
        """End the session of a request."""
        self._open.pop(cookie_of(request, self.cookie), None)

    def end_of(self, gone: Set[Principal]) -> None:
        """End the sessions of users that were removed, or changed."""
        self._open = {key: each for key, each in self._open.items() if each.user not in gone}

    def find(self, request: Shown) -> Session | None:
        """Return the session of a request, if it has one that has not ended."""
        key, now = cookie_of(request, self.cookie), self._monotonic()
        session = self._open.get(key)
        if session is None:
            return None
        if now - session.used > IDLE or now - session.began > LONGEST:
            del self._open[key]
            return None
        if not is_sent_by_script(request):
            session.used = now
            self._open[key] = self._open.pop(key)
        return session

    def who(self, request: Shown) -> Principal | None:
        """Return the user of a request with a session; None without one."""
        session = self.find(request)
        return None if session is None else session.user

    def csrf_of(self, request: Shown) -> str:
        """Return the value that a form of this browser must send."""
        session = self.find(request)
        return self._anonymous_csrf if session is None else session.csrf

    def is_own_form(self, request: Shown, given: str) -> bool:
        """Return whether a form was made by a page of this session."""
        return compare_digest(self.csrf_of(request).encode(), given.encode())

    def seal_of(self, notice: str) -> str:
        """Return the proof that this server made a notice, for the address of the page that shows it."""
        return blake2b(notice.encode(errors="replace"), key=self._key, digest_size=16).hexdigest()

    def _secret(self) -> str:
        return f"{self._chance.bits(_BITS):064x}"


def is_sent_by_script(request: Shown) -> bool:
    """Return whether a page updates a part of itself (htmx), or follows the manager's server-sent events."""
    accepted = request.header(b"accept") or b""
    return request.header(b"hx-request") is not None or accepted == b"text/event-stream"


def cookie_of(request: Shown, name: str = COOKIE) -> str:
    """Return the value of the session's cookie; empty without one."""
    header = request.header(b"cookie")
    if header is None:
        return ""
    try:
        found = SimpleCookie(header.decode("latin-1")).get(name)
    except CookieError:
        return ""
    return "" if found is None else found.value
