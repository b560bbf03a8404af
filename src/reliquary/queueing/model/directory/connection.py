"""Tracks whether the directory can be reached: LocalQueueManager.DirectoryOffline, [MS-MQDMPR] 3.1.1.1.

          an operation: DirectoryNotConnected          a check succeeds
    ONLINE ---------------------------------> OFFLINE ------------------> ONLINE
                     WATCH: a check is          |  ^                      REFRESH: the manager reads
                     made in a minute           '--'                      its own objects again
                                            a check fails

A manager that is not integrated with a directory is APART: it is never offline (DM-014).
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Final

from reliquary.base.time import MINUTE

ONLINE_CHECK: Final = MINUTE
"""The time between two checks: Directory Online Timer (DM-078)."""


class Connection(Enum):
    """The state of the connection to the directory."""

    APART = "apart"
    ONLINE = "online"
    OFFLINE = "offline"


class DirectoryEvent(Enum):
    """The events that change this state."""

    NOT_CONNECTED = "an operation found that the directory is not connected"
    CHECK_SUCCEEDED = "Check Directory Online read our own object"
    CHECK_FAILED = "Check Directory Online did not"


class DirectoryReaction(Enum):
    """The reaction of the manager to an event."""

    NOTHING = "nothing"
    WATCH = "see to it that a check is made in a minute"
    REFRESH = "renew what it knows of itself and its public queues"


TRANSITIONS: Final[Mapping[tuple[Connection, DirectoryEvent], tuple[Connection, DirectoryReaction]]] = {
    (Connection.APART, DirectoryEvent.NOT_CONNECTED): (Connection.APART, DirectoryReaction.NOTHING),
    (Connection.APART, DirectoryEvent.CHECK_SUCCEEDED): (Connection.APART, DirectoryReaction.NOTHING),
    (Connection.APART, DirectoryEvent.CHECK_FAILED): (Connection.APART, DirectoryReaction.NOTHING),
    (Connection.ONLINE, DirectoryEvent.NOT_CONNECTED): (
        Connection.OFFLINE,
        DirectoryReaction.WATCH,
    ),  # DM-240
    (Connection.ONLINE, DirectoryEvent.CHECK_SUCCEEDED): (
        Connection.ONLINE,
        DirectoryReaction.REFRESH,
    ),  # DM-256
    (Connection.ONLINE, DirectoryEvent.CHECK_FAILED): (
        Connection.ONLINE,
        DirectoryReaction.WATCH,
    ),  # DM-248, DM-257
    (Connection.OFFLINE, DirectoryEvent.NOT_CONNECTED): (
        Connection.OFFLINE,
        DirectoryReaction.WATCH,
    ),  # DM-240
    (Connection.OFFLINE, DirectoryEvent.CHECK_SUCCEEDED): (
        Connection.ONLINE,
        DirectoryReaction.REFRESH,
    ),  # DM-256
    (Connection.OFFLINE, DirectoryEvent.CHECK_FAILED): (
        Connection.OFFLINE,
        DirectoryReaction.WATCH,
    ),  # DM-257
}
