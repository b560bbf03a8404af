"""Defines the exit codes of all processes, each with a name.

Scripts and service managers use the number, people the sentence on stderr.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Final

from reliquary.base.faults import StartFailed, StoreDamage, StoreFailure, UsageError


class Exit(IntEnum):
    """Exit codes.  A number never changes its meaning."""

    OK = 0
    FAILED = 1
    """This program has a bug.  Recovery starts from the disk."""
    USAGE = 2
    """The command line or the settings are not valid; nothing was done."""
    REFUSED = 3
    """The server understood the request and refused it."""
    NOT_FOUND = 4
    """The queue, message, transaction or handle does not exist."""
    UNREACHABLE = 5
    """No server answers at the address."""
    EMPTY = 6
    """No message came in time."""
    OUTCOME_UNKNOWN = 7
    """The answer was lost: the request may have been performed or not."""
    STORE_LOCKED = 10
    """Another process uses the data folder."""
    STORE_NEWER = 11
    """A newer release wrote the data folder."""
    STORE_DAMAGED = 12
    """The files differ from the written data; an administrator has to decide on the repair."""
    STORE_MISSING = 13
    """The folder has no store, or something else."""
    DISK_FULL = 14
    NO_PERMISSION = 15
    DISK_FAILED = 16
    """The disk returned an error."""
    STORE_OLDER = 17
    """An older release wrote the data folder, and this one does not read its rows."""
    HISTORY_DAMAGED = 18
    """Files of the history have a gap, an event twice, or cannot be read."""
    PORT_IN_USE = 20
    """A listener cannot bind its address."""
    IN_DOUBT = 21
    """Transactions were prepared before, and no coordinator gave their outcome in time."""
    AUDIT_REFUTED = 30
    """The delivery audit found that messages were lost, doubled, out of order, late or stuck."""
    AUDIT_NOT_JUDGED = 31
    """The delivery audit found no fault, and could not judge everything."""
    INTERRUPTED = 130
    """Stopped by a second signal, before the orderly stop was complete."""


STORE_EXITS: Final[dict[str, Exit]] = {
    "locked": Exit.STORE_LOCKED,
    "newer": Exit.STORE_NEWER,
    "older": Exit.STORE_OLDER,
    "missing": Exit.STORE_MISSING,
    "full": Exit.DISK_FULL,
    "permission": Exit.NO_PERMISSION,
    "io": Exit.DISK_FAILED,
}
"""The exit code by the kind of a StoreFailure."""


def exit_of(failure: BaseException) -> Exit:
    """Return the exit code for an error."""
    match failure:
        case StoreFailure():
            return STORE_EXITS.get(failure.kind, Exit.DISK_FAILED)
        case StoreDamage():
            return Exit.STORE_DAMAGED
        case StartFailed():
            return Exit.IN_DOUBT
        case UsageError():
            return Exit.USAGE
        case _:
            return Exit.FAILED
