r"""Parses path names, [MS-MQMQ] 2.1.1, which name a queue of this manager.

    orders                    the private queue "orders", in short form
    private$\orders           the private queue "orders"
    .\private$\orders         the private queue "orders"; "." or the computer's name means this manager
    .\orders                  the public queue "orders"
    orders;retry              the subqueue "retry" of "orders"
    orders;journal            the journal of "orders"
    system$;deadletter        a system queue of the manager: deadletter, deadxact or journal

Names are compared without regard to case; `key` is the text that is compared.
"""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

from reliquary.base.faults import UsageError
from reliquary.queueing.model.queue import QueueType

QUEUE_NAME_LIMIT: Final = 124
SUBQUEUE_NAME_LIMIT: Final = 32
COMPUTER_NAME_LIMIT: Final = 256
FORBIDDEN: Final = '\\;+,"'
JOURNAL: Final = "journal"

SYSTEM_QUEUES: Final = ("deadletter", "deadxact", "journal", "order-ack", "notification")
"""The names of the manager's system queues (DM-093, DM-094)."""
CLOSED_QUEUES: Final = ("order-ack", "notification")
"""The system queues that applications cannot use (DM-094)."""

_LOCAL: Final = frozenset({"", ".", "localhost"})


@dataclass(frozen=True, slots=True)
class Pathname:
    """A parsed path name, without the computer, which is always this one."""

    kind: QueueType
    name: str
    subqueue: str = ""
    journal: bool = False
    key: str = field(init=False, compare=False)
    """A text that is equal for all names of one queue."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", str(self).casefold())

    @property
    def queue(self) -> Pathname:
        """Return the path name of the queue that this journal or subqueue belongs to."""
        return Pathname(self.kind, self.name)

    def __str__(self) -> str:
        if self.kind is QueueType.SYSTEM:
            return f"system$;{self.name}"
        stem = f"private$\\{self.name}" if self.kind is QueueType.PRIVATE else self.name
        tail = JOURNAL if self.journal else self.subqueue
        return f"{stem};{tail}" if tail else stem


@lru_cache(maxsize=1024)
def parse(text: str, *computers: str) -> Pathname:
    """Parse a path name of this manager, whose names are `computers`; UsageError says what is wrong.

    Results are cached, because programs repeat a few names; errors are not.
    """
    head, found, tail = text.partition(";")
    parts = head.replace("/", "\\").split("\\")
    if parts[0].casefold() in ("private$", "system$"):
        parts.insert(0, ".")
    if len(parts) == 1:
        parts = [".", "private$", *parts]
    computer, *rest = parts
    _check_computer(computer, computers)
    if [part.casefold() for part in rest] == ["system$"]:
        return Pathname(QueueType.SYSTEM, _system_queue(tail))
    kind = QueueType.PUBLIC
    if len(rest) == 2 and rest[0].casefold() == "private$":
        kind, rest = QueueType.PRIVATE, rest[1:]
    if len(rest) != 1:
        raise UsageError(f"{text!r} is not a queue's name: write NAME, .\\private$\\NAME or .\\NAME")
    name = check_name("a queue name", rest[0], QUEUE_NAME_LIMIT)  # DM-136
    if not found:
        return Pathname(kind, name)
    if tail.casefold() == JOURNAL:
        return Pathname(kind, name, journal=True)
    return Pathname(kind, name, subqueue=check_name("a subqueue name", tail, SUBQUEUE_NAME_LIMIT))


def short_path(pathname: str) -> str:
    r"""Return the short form of a queue's full path name; a format name stays as it is.

    >>> short_path("HERE\\private$\\orders"), short_path("HERE\\orders"), short_path("DIRECT=OS:there\\q")
    ('orders', '.\\orders', 'DIRECT=OS:there\\q')
    """
    if "=" in pathname.partition("\\")[0]:
        return pathname
    _, _, path = pathname.partition("\\")
    private, found, name = path.rpartition("private$\\")
    if found and not private:
        return name
    return path if path.startswith("system$") else f".\\{path}"


def _check_computer(computer: str, computers: tuple[str, ...]) -> None:
    if len(computer) > COMPUTER_NAME_LIMIT:
        raise UsageError(
            f"a computer name has at most {COMPUTER_NAME_LIMIT} characters, this one has {len(computer)}"
        )
    folded = computer.casefold()
    if folded not in _LOCAL and folded not in {name.casefold() for name in computers}:
        raise UsageError(
            f"{computer!r} is not this computer; a queue here has a name without a slash, or private$/NAME"
        )


def _system_queue(tail: str) -> str:
    if tail.casefold() not in SYSTEM_QUEUES:
        raise UsageError(f"{tail!r} is not a system queue; these are {', '.join(SYSTEM_QUEUES[:3])}")
    return tail.casefold()


def check_name(what: str, name: str, limit: int) -> str:
    """Raise UsageError for a name that is empty, too long, or has a forbidden character; else return it."""
    if not 1 <= len(name) <= limit:
        raise UsageError(f"{what} has 1 to {limit} characters, this one has {len(name)}")
    for character in name:
        if character in FORBIDDEN or unicodedata.category(character).startswith("C"):
            raise UsageError(f"{what} cannot contain {character!r}")  # DM-136
    return name
