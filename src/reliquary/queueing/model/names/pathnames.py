r"""Path names, [MS-MQMQ] 2.1.1: how people and programs name a queue of this manager.

    orders                    the private queue "orders", as people write it
    private$\orders           the same
    .\private$\orders         the same; "." or the computer's name stands for this manager
    .\orders                  the public queue "orders"
    orders;retry              its subqueue "retry"
    orders;journal            its journal
    system$;deadletter        the manager's own queues: deadletter, deadxact, journal

Names compare without regard to case; `key` is what they compare by.
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
"""The manager's own queues (DM-093, DM-094)."""
CLOSED_QUEUES: Final = ("order-ack", "notification")
"""Those of them that are not for applications (DM-094)."""

_LOCAL: Final = frozenset({"", ".", "localhost"})


@dataclass(frozen=True, slots=True)
class Pathname:
    """A parsed path name; the computer has been checked and dropped."""

    kind: QueueType
    name: str
    subqueue: str = ""
    journal: bool = False
    key: str = field(init=False, compare=False)
    """What two names of the same queue have in common."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "key", str(self).casefold())

    @property
    def queue(self) -> Pathname:
        """The queue that this journal or subqueue belongs to."""
        return Pathname(self.kind, self.name)

    def __str__(self) -> str:
        if self.kind is QueueType.SYSTEM:
            return f"system$;{self.name}"
        stem = f"private$\\{self.name}" if self.kind is QueueType.PRIVATE else self.name
        tail = JOURNAL if self.journal else self.subqueue
        return f"{stem};{tail}" if tail else stem


@lru_cache(maxsize=1024)
def parse(text: str, *computers: str) -> Pathname:
    """Read a path name of this manager; `computers` are the names it goes by.

    Programs repeat a few names, so they are kept; what is refused is not.
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
    name = check_name("a queue name", rest[0], QUEUE_NAME_LIMIT)
    if not found:
        return Pathname(kind, name)
    if tail.casefold() == JOURNAL:
        return Pathname(kind, name, journal=True)
    return Pathname(kind, name, subqueue=check_name("a subqueue name", tail, SUBQUEUE_NAME_LIMIT))


def spoken(pathname: str) -> str:
    r"""A queue's full path name as people write it; what is elsewhere keeps its format name.

    >>> spoken("HERE\\private$\\orders"), spoken("HERE\\orders"), spoken("DIRECT=OS:there\\q")
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
        raise UsageError(f"{computer!r} is not this computer")


def _system_queue(tail: str) -> str:
    if tail.casefold() not in SYSTEM_QUEUES:
        raise UsageError(f"{tail!r} is not a system queue; these are {', '.join(SYSTEM_QUEUES[:3])}")
    return tail.casefold()


def check_name(what: str, name: str, limit: int) -> str:
    """Refuse a name that is too long or has a character that none may have."""
    if not 1 <= len(name) <= limit:
        raise UsageError(f"{what} has 1 to {limit} characters, this one has {len(name)}")
    for character in name:
        if character in FORBIDDEN or unicodedata.category(character).startswith("C"):
            raise UsageError(f"{what} cannot contain {character!r}")
    return name
