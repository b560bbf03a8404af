"""Evaluates rights and access lists: [MS-MQMQ] 2.2.23 to 2.2.27, [MS-DTYP] 2.5.3.2, [MS-MQDMPR] 3.1.7.1.3.1.

The entries of a list are read in their order; for each right, the first entry decides that names the right
and one of the user's SIDs.  A right that no entry names is not granted.
"""

from __future__ import annotations

from enum import IntFlag
from functools import lru_cache
from typing import Final

from reliquary.base.faults import PeerFault, UsageError
from reliquary.queueing.model.security.principals import (
    ADMINISTRATORS,
    ANONYMOUS_USER,
    AUTHENTICATED_USERS,
    EVERYONE,
    MANAGER,
    Principal,
    is_domain_user,
    is_guest,
)
from reliquary.wire.security import (
    INHERIT_ONLY,
    Ace,
    AceKind,
    Acl,
    SecurityDescriptor,
    Sid,
    decode_descriptor,
    encode_descriptor,
)

# -- the rights


class QueueRight(IntFlag):
    """The rights on a queue: MQQUEUEACCESSMASK (DM-024)."""

    DELETE_MESSAGE = 0x00001
    PEEK_MESSAGE = 0x00002
    WRITE_MESSAGE = 0x00004
    DELETE_JOURNAL_MESSAGE = 0x00008
    SET_QUEUE_PROPERTIES = 0x00010
    GET_QUEUE_PROPERTIES = 0x00020
    DELETE_QUEUE = 0x10000
    GET_QUEUE_PERMISSIONS = 0x20000
    CHANGE_QUEUE_PERMISSIONS = 0x40000
    TAKE_QUEUE_OWNERSHIP = 0x80000
    RECEIVE_MESSAGE = 0x00003
    RECEIVE_JOURNAL_MESSAGE = 0x0000A
    GENERIC_READ = 0x2002B
    GENERIC_WRITE = 0x20024
    GENERIC_ALL = 0xF003F


class ManagerRight(IntFlag):
    """The rights on a queue manager: MQQMACCESSMASK (DM-013)."""

    DELETE_DEADLETTER_MESSAGE = 0x00001
    PEEK_DEADLETTER_MESSAGE = 0x00002
    CREATE_QUEUE = 0x00004
    SET_MACHINE_PROPERTIES = 0x00010
    GET_MACHINE_PROPERTIES = 0x00020
    DELETE_JOURNAL_QUEUE_MESSAGE = 0x00040
    PEEK_JOURNAL_QUEUE_MESSAGE = 0x00080
    DELETE_MACHINE = 0x10000
    GET_MACHINE_PERMISSIONS = 0x20000
    CHANGE_MACHINE_PERMISSIONS = 0x40000
    TAKE_MACHINE_OWNERSHIP = 0x80000
    RECEIVE_DEADLETTER_MESSAGE = 0x00003
    RECEIVE_JOURNAL_QUEUE_MESSAGE = 0x000C0
    GENERIC_READ = 0x200E3
    GENERIC_WRITE = 0x20024
    GENERIC_ALL = 0xF00F7
    WORLD_RIGHTS = 0x20020


class EnterpriseRight(IntFlag):
    """The rights on the enterprise: MQENTACCESSMASK (DM-036)."""

    CREATE_USER = 0x00001
    CREATE_SITE = 0x00002
    CREATE_CN = 0x00004
    SET_ENTERPRISE_PROPERTIES = 0x00010
    GET_ENTERPRISE_PROPERTIES = 0x00020
    DELETE_ENTERPRISE = 0x10000
    GET_ENTERPRISE_PERMISSIONS = 0x20000
    CHANGE_ENTERPRISE_PERMISSIONS = 0x40000
    TAKE_ENTERPRISE_OWNERSHIP = 0x80000
    GENERIC_READ = 0x20021
    GENERIC_WRITE = 0x20027
    GENERIC_ALL = 0xF0037


class SiteRight(IntFlag):
    """The rights on a site: MQSITEACCESSMASK (DM-036)."""

    CREATE_FRS = 0x00001
    CREATE_BSC = 0x00002
    CREATE_MACHINE = 0x00004
    SET_SITE_PROPERTIES = 0x00010
    GET_SITE_PROPERTIES = 0x00020
    DELETE_SITE = 0x10000
    GET_SITE_PERMISSIONS = 0x20000
    CHANGE_SITE_PERMISSIONS = 0x40000
    TAKE_SITE_OWNERSHIP = 0x80000
    GENERIC_READ = 0x20020
    GENERIC_WRITE = 0x20024
    GENERIC_ALL = 0xF0037


class NetworkRight(IntFlag):
    """The rights on a connected network: MQCNACCESSMASK (DM-036)."""

    OPEN_CONNECTOR = 0x00001
    SET_CN_PROPERTIES = 0x00010
    GET_CN_PROPERTIES = 0x00020
    DELETE_CN = 0x10000
    GET_CN_PERMISSIONS = 0x20000
    CHANGE_CN_PERMISSIONS = 0x40000
    TAKE_CN_OWNERSHIP = 0x80000
    GENERIC_READ = 0x20020
    GENERIC_ALL = 0xF0031


Right = QueueRight | ManagerRight | EnterpriseRight | SiteRight | NetworkRight

EVERYTHING: Final = 0xFFFFFFFF
OWNERS: Final = 0x60000
"""The two bits, in every mask, for reading and changing the list itself; an owner always has them."""
TAKE_OWNERSHIP: Final = 0x80000
"""The bit, in every mask, for taking ownership; administrators always have it, to repair a lost list."""


def right_named(kind: type[Right], name: str) -> Right:
    """Return the right of this name, in any spelling that people use.

    >>> right_named(QueueRight, "send") is right_named(QueueRight, "MQSEC_WRITE_MESSAGE")
    True
    """
    word = name.strip().upper().replace("-", "_").removeprefix("MQSEC_")
    word = "WRITE" if word == "SEND" else word
    for candidate in (word, f"{word}_MESSAGE", f"GENERIC_{word}"):
        if candidate in kind.__members__:
            return kind[candidate]
    known = ", ".join(kind.__members__).lower().replace("_", "-")
    raise UsageError(f"there is no right {name[:80]!r}; these are {known}")


def names_of(rights: Right) -> list[str]:
    """Return the names of a mask: one name for the whole mask if it has one, else a name for each bit."""
    kind = type(rights)
    for name, member in kind.__members__.items():
        if member == rights:
            return [name]
    return [str(each.name) for each in kind if each in rights]


# -- the evaluation of a list


@lru_cache(maxsize=16384)
def granted(security: bytes, by: Principal, by_role: int = 0) -> int:
    """Return all rights that a list and a role grant to a user; cached, because lists and users repeat."""
    if by is MANAGER or not security:
        return EVERYTHING
    return walk(decode_descriptor(security), by, by_role)


def walk(descriptor: SecurityDescriptor, by: Principal, by_role: int = 0) -> int:
    """Return the rights that the entries allow, with those that an owner or an administrator always has.

    `by_role` are rights that the user has unless an entry denies them.
    """
    if descriptor.dacl is None:
        return EVERYTHING
    allowed = denied = 0
    # Every unauthenticated client is the anonymous user, so it cannot be an owner.
    if descriptor.owner in by.sids and descriptor.owner != ANONYMOUS_USER:
        allowed |= OWNERS
    if ADMINISTRATORS in by.sids:
        allowed |= TAKE_OWNERSHIP
    for ace in descriptor.dacl:
        if not isinstance(ace, Ace) or ace.flags & INHERIT_ONLY or ace.sid not in by.sids:
            continue
        if ace.kind is AceKind.ALLOWED:
            allowed |= ace.mask & ~denied
        else:
            denied |= ace.mask & ~allowed
    return allowed | by_role & ~denied


def check_descriptor(security: bytes, kind: type[Right]) -> SecurityDescriptor:
    """Decode a new security descriptor and return it; UsageError says what is wrong with it."""
    try:
        descriptor = decode_descriptor(security)
    except PeerFault as fault:
        raise UsageError(f"the security descriptor is damaged {fault.why}") from fault
    for ace in descriptor.dacl or ():
        if not isinstance(ace, Ace):
            raise UsageError(f"an access list allows and denies; entries of kind {ace.kind} are not known")
        check_mask(ace.mask, kind)
    return descriptor


def check_mask(mask: int, kind: type[Right]) -> None:
    """Raise UsageError for a mask without bits, or with bits that are no right (DM-013, DM-024, DM-036)."""
    stray = mask & ~kind["GENERIC_ALL"].value
    if stray or not mask:
        whose = kind.__name__.removesuffix("Right").lower()
        raise UsageError(f"the mask {mask:#x} has no meaning for a {whose}: {stray:#x} is no right")


# -- the list of a new queue


def default_descriptor(
    supplied: SecurityDescriptor | None, user: Sid, *, machine: Sid | None = None, http_support: bool = False
) -> SecurityDescriptor:
    """Return the descriptor of a queue that `user` creates: Create Default Queue Security Descriptor."""
    supplied = supplied or SecurityDescriptor()
    owner = supplied.owner  # DM-147
    if owner is None:
        owner = user if _may_own(user) else ANONYMOUS_USER  # DM-148
    # DEPARTS from 3.1.7.1.3.1 (AN-45): the owner is stored, and the list is made where the queue is
    # created, because its name and its owner are known there and not before.
    dacl = (
        supplied.dacl
        if supplied.dacl is not None
        else _default_list(owner, machine, http_support=http_support)
    )
    return SecurityDescriptor(owner=owner, sacl=supplied.sacl, dacl=dacl)


def _may_own(sid: Sid) -> bool:
    """Return whether the user or group of this SID may own a queue."""
    # DEPARTS from 3.1.7.1.3.1 (DM-148): the group of administrators may own a queue as a user of a domain
    # may, because otherwise every user could use a queue that they own.
    return is_domain_user(sid) or sid == ADMINISTRATORS


def _default_list(owner: Sid, machine: Sid | None, *, http_support: bool) -> Acl:
    look = QueueRight.GET_QUEUE_PROPERTIES | QueueRight.GET_QUEUE_PERMISSIONS
    owned = _may_own(owner) and not is_guest(owner)
    world = look if owned else QueueRight.GENERIC_ALL  # DM-149
    anonymous = QueueRight.WRITE_MESSAGE if http_support else QueueRight(0)  # DM-151
    entries = (
        (EVERYONE, world | anonymous),
        (ANONYMOUS_USER, anonymous),
        (machine, look if machine is not None else QueueRight(0)),  # DM-150
        (owner, QueueRight.GENERIC_ALL if owned else QueueRight(0)),
    )
    return tuple(_allow(sid, rights) for sid, rights in entries if sid is not None and rights)  # DM-152


def _allow(sid: Sid, rights: Right) -> Ace:
    return Ace(AceKind.ALLOWED, int(rights), sid)


MANAGER_LIST: Final = encode_descriptor(
    SecurityDescriptor(
        owner=ADMINISTRATORS,
        dacl=(
            _allow(EVERYONE, ManagerRight.WORLD_RIGHTS),
            _allow(AUTHENTICATED_USERS, ManagerRight.GENERIC_WRITE),
            _allow(ADMINISTRATORS, ManagerRight.GENERIC_ALL),
        ),
    )
)
"""The descriptor of a manager with users, until another one is set."""
