"""Finds the users of a server by their bearer tokens, passwords or NTLM names.

A client without any of these is anonymous.  Users can change while a server runs: a user whose entry in the
settings did not change keeps its principal, any other gets a new one.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from hashlib import sha256
from hmac import compare_digest
from typing import Final
from uuid import UUID

import msgspec

from reliquary.base.faults import UsageError
from reliquary.net.identity.password_hashes import check_hash
from reliquary.net.identity.shown import Denied, Fields
from reliquary.queueing.model.security.principals import (
    ADMINISTRATORS,
    ANONYMOUS,
    ANONYMOUS_USER,
    AUTHENTICATED_USERS,
    EVERYONE,
    Principal,
    user_sid,
)
from reliquary.queueing.model.security.roles import Role, rights_of_role
from reliquary.wire.security import Sid, parse_sid

WELL_KNOWN: Final = {
    "everyone": EVERYONE,
    "anonymous": ANONYMOUS_USER,
    "authenticated": AUTHENTICATED_USERS,
    "administrators": ADMINISTRATORS,
}
UNAUTHENTICATED: Final = "UNAUTHENTICATED"
CHALLENGE: Final = ((b"www-authenticate", b'Bearer realm="reliquary"'),)

_DIGEST: Final = re.compile("[0-9a-f]{64}")
_NT_HASH: Final = re.compile("[0-9a-f]{32}")
_NAME: Final = re.compile(r"[\w.@-]{1,64}")


class NotKnown(Denied):
    """A client shows a credential that belongs to no user."""

    status = 401
    code = UNAUTHENTICATED
    headers: Fields = CHALLENGE


class User(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A user in the settings."""

    name: str
    """The name that access lists use for the user."""
    token_sha256: str = ""
    """The SHA-256 digest of the token; the token itself is written nowhere."""
    nt_hash: str = ""
    """The NT hash of the password ([MS-NLMP] 3.3.1): 32 hexadecimal digits; NTLM is refused without one.

    For NTLM it is as good as the password: a settings file with one must be readable by the server alone.
    """
    password_hash: str = ""
    """The hash of the password, argon2id; `reliquary user password` makes one."""
    groups: tuple[str, ...] = ()
    """The groups that the user belongs to."""
    role: Role | None = None
    """The rights of the user on every queue: reader, sender, receiver, operator or administrator."""
    sid: str = ""
    """The SID of the user; by default one that follows from the name."""


def check_users(users: Sequence[User]) -> None:
    """Refuse users that share a name or a token, or that have an invalid name."""
    seen: set[str] = set()
    for user in users:
        for name in (user.name, *user.groups):
            if not _NAME.fullmatch(name) or name[:4].upper() == "S-1-":
                raise UsageError(
                    f"a user or group has a name of 1 to 64 letters or digits, not {name[:80]!r}"
                )
        if user.name.casefold() in WELL_KNOWN:
            raise UsageError(f"{user.name!r} is the name of a predefined group: name the user otherwise")
        _check_proofs(user)
        for what in _unique_parts(user):
            if what in seen:
                raise UsageError(f"two users have {what}")
            seen.add(what)
        _check_sid(user)


def _check_sid(user: User) -> None:
    try:
        if user.sid:
            parse_sid(user.sid)
    except UsageError as why:
        raise UsageError(f"sid of {user.name}: {why}") from why


def _check_proofs(user: User) -> None:
    """Refuse a user that has no proof of identity, or a proof that is no hash."""
    if not (user.token_sha256 or user.nt_hash or user.password_hash):
        raise UsageError(f"the user {user.name} needs a token_sha256, a password_hash or an nt_hash")
    if user.token_sha256 and not _DIGEST.fullmatch(user.token_sha256):
        raise UsageError(f"token_sha256 of {user.name} must be 64 hexadecimal digits in lower case")
    if user.nt_hash and not _NT_HASH.fullmatch(user.nt_hash):
        raise UsageError(f"nt_hash of {user.name} must be 32 hexadecimal digits in lower case")
    if user.password_hash:
        check_hash(user.name, user.password_hash)


def _unique_parts(user: User) -> list[str]:
    """Return the values that no other user may have; users may share a password."""
    token = [f"the token of {user.token_sha256}"] if user.token_sha256 else []
    return [f"the name {user.name.casefold()!r}", *token]


def digest_of(authorization: bytes) -> bytes:
    """Return a digest of an Authorization header, for caches that must not contain the token itself."""
    return sha256(authorization).digest()


class Users:
    """The known users of a server."""

    def __init__(self, manager: UUID, users: Sequence[User] = ()) -> None:
        self._manager = manager
        self._entries: dict[str, User] = {}
        self._principals: dict[str, Principal] = {}
        self._take(users)

    def renew(self, users: Sequence[User]) -> frozenset[Principal]:
        """Replace the users, and return the principals that were removed or replaced."""
        before = frozenset(self._principals.values())
        self._take(users)
        return before - frozenset(self._principals.values())

    def _take(self, users: Sequence[User]) -> None:
        manager = self._manager
        self._sids = dict(WELL_KNOWN)
        for user in users:
            self._sids[user.name.casefold()] = (
                parse_sid(user.sid) if user.sid else user_sid(manager, user.name)
            )
            for group in user.groups:
                self._sids.setdefault(group.casefold(), user_sid(manager, group))
        self._names = {sid: name for name, sid in self._sids.items()}
        self._principals = {user.name.casefold(): self._principal(user) for user in users}
        self._entries = {user.name.casefold(): user for user in users}
        self.any = bool(users)
        """Whether there is a user; without one all clients are anonymous, even with credentials."""
        self._tokens = tuple(
            (bytes.fromhex(user.token_sha256), self._principals[user.name.casefold()])
            for user in users
            if user.token_sha256
        )

    def _principal(self, user: User) -> Principal:
        """Return the principal of a user: the existing one, if nothing of the user has changed."""
        groups = [*map(self.sid_of, user.groups)]
        if user.role is Role.ADMINISTRATOR:
            groups.append(ADMINISTRATORS)
        rights = rights_of_role(user.role)
        made = Principal(
            self.sid_of(user.name),
            tuple(dict.fromkeys(groups)),
            user.name,
            on_queues=rights.on_queues,
            on_manager=rights.on_manager,
        )
        before = self._principals.get(user.name.casefold())
        is_as_before = (
            before is not None
            and self._entries[user.name.casefold()] == user
            and (before.user, before.groups) == (made.user, made.groups)
        )
        return before if before is not None and is_as_before else made

    @property
    def principals(self) -> Collection[Principal]:
        """Return the principals of all users."""
        return self._principals.values()

    def knows(self, principal: Principal) -> bool:
        """Return whether a principal is still one of the users, or the anonymous one."""
        return principal is ANONYMOUS or self._principals.get(principal.name.casefold()) is principal

    def who(self, authorization: bytes | None) -> Principal:
        """Return the user of an Authorization header."""
        if authorization is None or not self.any:
            return ANONYMOUS
        scheme, _, token = authorization.strip().partition(b" ")
        if scheme.lower() != b"bearer":
            raise NotKnown(
                f"Authorization must be 'Bearer' and a token, not {scheme[:20].decode('latin-1')!r}"
            )
        digest = sha256(token.strip()).digest()
        found = None
        for known, principal in self._tokens:  # all of them, so that the time reveals nothing
            if compare_digest(known, digest):
                found = principal
        if found is None:
            raise NotKnown("the token belongs to no user of this server: check it, or get a new one")
        return found

    def named(self, name: str) -> Principal:
        """Return the user of an authenticated name; the anonymous one for an empty name."""
        if not name:
            return ANONYMOUS
        found = self._principals.get(name.casefold())
        if found is None:
            raise NotKnown(f"there is no user {name[:80]!r}")
        return found

    def nt_hash_of(self, name: str) -> str:
        """Return the NT hash of a user's password in hexadecimal digits; empty if the user has none."""
        entry = self._entries.get(name.casefold())
        return "" if entry is None else entry.nt_hash

    def password_hash_of(self, name: str) -> str:
        """Return the hash of a user's password; empty if the user has none."""
        entry = self._entries.get(name.casefold())
        return "" if entry is None else entry.password_hash

    def sid_of(self, name: str) -> Sid:
        """Return the SID of a user or a group; a SID may also be given directly."""
        if name[:4].upper() == "S-1-":
            return parse_sid(name)
        sid = self._sids.get(name.casefold())
        if sid is None:
            known = ", ".join(self._sids)
            raise UsageError(f"there is no user or group {name[:80]!r}; there is {known}, or give a SID")
        return sid

    def name_of(self, sid: Sid) -> str:
        """Return the name of a SID; empty when it has none."""
        return self._names.get(sid, "")
