"""Defines principals: the users who make requests, each with its groups, as SIDs."""

from __future__ import annotations

from dataclasses import dataclass, field
from hashlib import sha256
from struct import Struct as Layout
from typing import Final
from uuid import UUID

from reliquary.wire.security import Sid

EVERYONE: Final = Sid(1, (0,))
ANONYMOUS_USER: Final = Sid(5, (7,))
AUTHENTICATED_USERS: Final = Sid(5, (11,))
SYSTEM_USER: Final = Sid(5, (18,))
ADMINISTRATORS: Final = Sid(5, (32, 544))
GUEST_RID: Final = 501
FIRST_RID: Final = 1000
"""The lowest relative identifier of a user; lower ones belong to the standard accounts of each domain."""
_DOMAIN: Final = 21


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Principal:
    """A user who makes requests.  There is one instance for each user, so that they compare by identity."""

    user: Sid
    groups: tuple[Sid, ...] = ()
    name: str = ""
    """The name by which people know the user."""
    on_queues: int = 0
    """Rights that its role gives it on every queue, as a mask."""
    on_manager: int = 0
    """Rights that its role gives it on the manager."""
    sids: frozenset[Sid] = field(init=False)
    """All SIDs by which an access list can name the user."""

    def __post_init__(self) -> None:
        well_known = {EVERYONE} if self.user == ANONYMOUS_USER else {EVERYONE, AUTHENTICATED_USERS}
        object.__setattr__(self, "sids", frozenset({self.user, *self.groups} | well_known))

    def __str__(self) -> str:
        return f"{self.name} ({self.user})" if self.name else str(self.user)

    def __repr__(self) -> str:
        return f"Principal({self})"


MANAGER: Final = Principal(SYSTEM_USER, name="the manager")
"""The manager itself, and an application in its process: access lists are not checked for them."""
ANONYMOUS: Final = Principal(ANONYMOUS_USER, name="anonymous")
"""A client that has not logged in."""


def is_domain_user(sid: Sid) -> bool:
    """Return whether a SID belongs to a user or group of a domain or of the settings."""
    return sid.authority == ANONYMOUS_USER.authority and len(sid.parts) > 1 and sid.parts[0] == _DOMAIN


def is_guest(sid: Sid) -> bool:
    """Return whether a SID belongs to the guest account of a domain."""
    return is_domain_user(sid) and sid.parts[-1] == GUEST_RID


def user_sid(manager: UUID, name: str) -> Sid:
    """Return the SID of a user or group of the settings, which depends only on the manager and the name."""
    domain = Layout("<III").unpack(sha256(manager.bytes).digest()[:12])
    (number,) = Layout("<I").unpack(sha256(name.casefold().encode()).digest()[:4])
    return Sid(5, (_DOMAIN, *domain, max(number, FIRST_RID)))
