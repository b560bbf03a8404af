"""Defines the roles of users: rights on every queue and on the manager, in addition to the access lists.

                     on every queue                          on the manager
    reader           look at messages and settings           look at dead letters and journals
    sender           send                                    -
    receiver         look at messages, receive them          -
    operator         all but to change access lists          all but to change its access list
    administrator    all                                     all, and the group `administrators`

An access list can take a right of a role back for one queue: an entry that denies a right to the user, or to
one of its groups, wins over the role.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final, NamedTuple

from reliquary.queueing.model.security.rights import ManagerRight, QueueRight


class Role(StrEnum):
    """The roles that the settings can give to a user."""

    READER = "reader"
    SENDER = "sender"
    RECEIVER = "receiver"
    OPERATOR = "operator"
    ADMINISTRATOR = "administrator"


class RoleRights(NamedTuple):
    """The rights of a role, as masks."""

    on_queues: int
    on_manager: int


_LOOK: Final = QueueRight.GET_QUEUE_PROPERTIES | QueueRight.GET_QUEUE_PERMISSIONS
_LOOK_AT_MANAGER: Final = ManagerRight.WORLD_RIGHTS
_QUEUE_ACCESS: Final = QueueRight.CHANGE_QUEUE_PERMISSIONS | QueueRight.TAKE_QUEUE_OWNERSHIP
_MANAGER_ACCESS: Final = (
    ManagerRight.CHANGE_MACHINE_PERMISSIONS
    | ManagerRight.TAKE_MACHINE_OWNERSHIP
    | ManagerRight.DELETE_MACHINE
)

RIGHTS: Final[dict[Role, RoleRights]] = {
    Role.READER: RoleRights(
        int(_LOOK | QueueRight.PEEK_MESSAGE),
        int(
            _LOOK_AT_MANAGER | ManagerRight.PEEK_DEADLETTER_MESSAGE | ManagerRight.PEEK_JOURNAL_QUEUE_MESSAGE
        ),
    ),
    Role.SENDER: RoleRights(int(_LOOK | QueueRight.WRITE_MESSAGE), int(_LOOK_AT_MANAGER)),
    Role.RECEIVER: RoleRights(int(_LOOK | QueueRight.RECEIVE_MESSAGE), int(_LOOK_AT_MANAGER)),
    Role.OPERATOR: RoleRights(
        int(QueueRight.GENERIC_ALL & ~_QUEUE_ACCESS), int(ManagerRight.GENERIC_ALL & ~_MANAGER_ACCESS)
    ),
    Role.ADMINISTRATOR: RoleRights(int(QueueRight.GENERIC_ALL), int(ManagerRight.GENERIC_ALL)),
}
NO_ROLE: Final = RoleRights(0, 0)


def rights_of_role(role: Role | None) -> RoleRights:
    """Return the rights of a role; none without a role."""
    return NO_ROLE if role is None else RIGHTS[role]
