"""Builds the security contexts of an accepted connection, [MS-RPCE] 3.3.1.5.2.1 and 3.3.1.5.4.

A client names a context by a number, and builds it with tokens: the first in a bind or an alter_context,
the others in alter_contexts or, the last one, in an auth3.  The level and the type never change afterwards.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reliquary.protocols.rpc.guards import Guard
from reliquary.protocols.rpc.security import SecurityContext, SecurityRefused
from reliquary.wire.rpc.binds import Nak
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.verifier import Verifier

_LEVELS: Final = frozenset(Protection) - {Protection.NONE}


class LoginRefused(Exception):
    """A token is not accepted; `nak` is the answer to a bind, `status` to any other PDU."""

    def __init__(self, nak: Nak, status: FaultStatus, why: str) -> None:
        super().__init__(why)
        self.nak = nak
        self.status = status


class Logins:
    """The security contexts of a connection."""

    __slots__ = ("_first", "_guards", "_limit", "_secure", "building")

    def __init__(self, secure: Callable[[int], SecurityContext | None], limit: int) -> None:
        self._secure = secure
        self._limit = limit
        self._guards: dict[int, Guard] = {}
        self._first: Guard | None = None
        """The context that the bind built, which calls without a token use."""
        self.building: Guard | None = None
        """The context that waits for another token."""

    def begin(self, verifier: Verifier) -> Verifier:
        """Take the token of a bind and return the answer."""
        guard = self._create(verifier)
        answer = self._step(guard, verifier)
        self._first = guard
        return answer

    def go_on(self, verifier: Verifier) -> Verifier:
        """Take the token of an alter_context, for a new context or the one that is being built."""
        guard = self._guards.get(verifier.number)
        if self.building is not None and self.building is not guard:
            raise LoginRefused(
                Nak.NOT_SPECIFIED, FaultStatus.PROTOCOL, "another security context is not complete"
            )
        if guard is None:
            return self._step(self._create(verifier), verifier)
        self._check_unchanged(guard, verifier)
        return self._step(guard, verifier)

    def finish(self, verifier: Verifier) -> None:
        """Take the token of an auth3; an error in it is reported by the first call."""
        guard = self.building
        assert guard is not None
        self.building = None
        if verifier.number != guard.number or not guard.fits(verifier):
            guard.refused = True
            return
        try:
            answer = guard.context.step(verifier.token)
        except SecurityRefused:
            guard.refused = True
            return
        guard.refused = bool(answer) or not guard.context.complete or not guard.context.protects(guard.level)

    def of_request(self, verifier: Verifier | None) -> Guard | None:
        """Return the context of a call, or None for an anonymous one; LoginRefused if it may not be used."""
        guard = self._unsigned() if verifier is None else self._guards.get(verifier.number)
        if guard is None and verifier is None:
            return None
        if guard is None or not guard.usable:
            raise _denied("the security context does not exist or is not complete")
        if verifier is None and guard.signs:
            raise _denied("the request has no token, which its security context requires")
        if verifier is not None and not guard.fits(verifier):
            raise _denied("the type or the level of protection differs from the agreed one")
        return guard

    def _unsigned(self) -> Guard | None:
        """Return the context of calls without a token, 3.3.1.5.4."""
        if self._first is None and len(self._guards) == 1:
            (only,) = self._guards.values()
            return only if only.level is Protection.CONNECT else None
        return self._first

    def _create(self, verifier: Verifier) -> Guard:
        """Make a security context of the type that the client requests."""
        if verifier.level not in _LEVELS:
            raise LoginRefused(
                Nak.NOT_SPECIFIED,
                FaultStatus.UNSUPPORTED_LEVEL,
                f"the level of protection {verifier.level} is not supported",
            )
        if len(self._guards) >= self._limit:
            raise LoginRefused(
                Nak.LOCAL_LIMIT,
                FaultStatus.PROTOCOL,
                f"a connection has at most {self._limit} security contexts",
            )
        context = self._secure(verifier.kind)
        if context is None:
            raise LoginRefused(
                Nak.AUTH_TYPE,
                FaultStatus.SECURITY_ERROR,
                f"the type of authentication {verifier.kind} is not supported",
            )
        if verifier.level == Protection.CALL:
            # CONNECT over a connection means PACKET; Windows and Samba refuse it.
            raise LoginRefused(
                Nak.CHECKSUM, FaultStatus.SECURITY_ERROR, "the level of protection CALL is not supported"
            )
        return Guard(verifier.kind, verifier.number, Protection(verifier.level), context)

    def _check_unchanged(self, guard: Guard, verifier: Verifier) -> None:
        """Refuse a token for a context that is complete, or with another type or level."""
        if guard is not self.building:
            raise _denied("the security context is complete already")
        if verifier.kind != guard.kind:
            raise LoginRefused(
                Nak.NOT_SPECIFIED,
                FaultStatus.SECURITY_ERROR,
                "the type of authentication differs from that of the bind",
            )
        if verifier.level != guard.level:
            raise _denied("the level of protection differs from that of the bind")

    def _step(self, guard: Guard, verifier: Verifier) -> Verifier:
        """Give a token to the provider and return the next one, which may be empty."""
        try:
            token = guard.context.step(verifier.token)
        except SecurityRefused as refused:
            raise LoginRefused(Nak.CHECKSUM, FaultStatus.SECURITY_ERROR, str(refused)) from refused
        if guard.context.complete and not guard.context.protects(guard.level):
            why = f"the client did not negotiate what {guard.level.name} needs"
            raise LoginRefused(Nak.CHECKSUM, FaultStatus.SECURITY_ERROR, why)
        self._guards[guard.number] = guard
        self.building = None if guard.context.complete else guard
        return guard.verifier(token)


def _denied(why: str) -> LoginRefused:
    return LoginRefused(Nak.NOT_SPECIFIED, FaultStatus.ACCESS_DENIED, why)
