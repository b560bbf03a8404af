"""Who asks: a user and the groups he is in, each a SID."""

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
"""Lower numbers are for accounts that every domain has."""
_DOMAIN: Final = 21


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Principal:
    """Somebody who asks.  There is one instance for each, so that two compare by identity."""

    user: Sid
    groups: tuple[Sid, ...] = ()
    name: str = ""
    """What people call him."""
    sids: frozenset[Sid] = field(init=False)
    """All that an access list may know him by."""

    def __post_init__(self) -> None:
        well_known = {EVERYONE} if self.user == ANONYMOUS_USER else {EVERYONE, AUTHENTICATED_USERS}
        object.__setattr__(self, "sids", frozenset({self.user, *self.groups} | well_known))

    def __str__(self) -> str:
        return f"{self.name} ({self.user})" if self.name else str(self.user)

    def __repr__(self) -> str:
        return f"Principal({self})"


MANAGER: Final = Principal(SYSTEM_USER, name="the manager")
"""The manager itself, and whoever has it in his own process: no list holds for him."""
ANONYMOUS: Final = Principal(ANONYMOUS_USER, name="anonymous")
"""Whoever does not say who he is."""


def is_domain_user(sid: Sid) -> bool:
    """Whether a SID is of somebody who was made known by name: by a domain, or in our settings."""
    return sid.authority == ANONYMOUS_USER.authority and len(sid.parts) > 1 and sid.parts[0] == _DOMAIN


def is_guest(sid: Sid) -> bool:
    """Whether a SID is of a domain's guest account."""
    return is_domain_user(sid) and sid.parts[-1] == GUEST_RID


def user_sid(manager: UUID, name: str) -> Sid:
    """The SID of a user or group of our own: the same as long as the manager is the same."""
    domain = Layout("<III").unpack(sha256(manager.bytes).digest()[:12])
    (number,) = Layout("<I").unpack(sha256(name.casefold().encode()).digest()[:4])
    return Sid(5, (_DOMAIN, *domain, max(number, FIRST_RID)))
