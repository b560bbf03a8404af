"""Defines the descriptions with which protocols register as carriers and remote readers of a queue manager.

    destination name --> Carriers.of       --> the carrier for messages to it, or None: the messages wait
    message          --> Carriers.brought  --> the carrier that brought it and sends receipts for it
    name to read     --> Carriers.reader   --> the protocol that reads this queue of another manager, or None

A carrier describes itself once, when the manager is built.  All later communication uses signals
(`transfer`); a signal for a carrier names that carrier, so that no other machine gets it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from reliquary.queueing.model.message import Message, MessageClass
from reliquary.queueing.model.names.formats import DirectName, SingleName

if TYPE_CHECKING:
    from reliquary.queueing.model.state import State


class Check(Protocol):
    """A function that raises UsageError for a message that the carrier cannot bring to this destination."""

    def __call__(self, state: State, name: SingleName, message: Message, *, in_transaction: bool) -> None:
        """Return None when the carrier can bring the message to this destination."""


def _accept(state: State, name: SingleName, message: Message, *, in_transaction: bool) -> None:
    del state, name, message, in_transaction


def _brings_nothing(message: Message) -> bool:
    del message
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Carrier:
    """The description of a protocol that brings messages to other managers."""

    name: str
    """The name of the protocol's machine in the engine; the history shows it as `protocol`."""
    claims: Callable[[SingleName], bool]
    """Returns whether this carrier brings messages to a destination."""
    check: Check = _accept
    """Is called for each message before the manager accepts it."""
    takes_batches: bool = False
    """The carrier asks for batches (`ReservationWanted`); otherwise it gets one message at a time."""
    carries_signatures: bool = False
    """The carrier can send messages that ask for an XML signature."""
    signs: bool = False
    """The carrier has a key for these signatures."""
    reports_refusals: bool = True
    """A peer that refuses a message also sends the acknowledgement; otherwise the sending manager does."""
    acknowledgements: frozenset[MessageClass] = frozenset(MessageClass)
    """The classes of acknowledgements that it can bring to an administration queue of another manager."""
    brought: Callable[[Message], bool] = _brings_nothing
    """Returns whether this carrier brought a message whose sender waits for receipts (`ReceiptDue`)."""
    holds_backlog: bool = False
    """Messages from before the start of this carrier stay until an administrator resumes their queue."""
    labels: Callable[[SingleName], str] | None = None
    """Returns what the history shows as `protocol` for a destination; None stands for `name`."""

    def label(self, name: SingleName) -> str:
        """Return what the history shows as `protocol` for messages to this destination."""
        return self.name if self.labels is None else self.labels(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteReader:
    """The description of a protocol that can open, read and purge queues of other managers (`remote`)."""

    name: str
    """The name of its machine in the engine."""
    claims: Callable[[DirectName], bool]
    """Returns whether the protocol can read the queue of a name."""
    own_addresses: bool = False
    """The protocol also reads at addresses of this computer, for a manager that has no queues itself."""


class Carriers:
    """The carriers and remote readers of one manager; when two claim a name, the first one gets it."""

    def __init__(self, carriers: Iterable[Carrier] = (), readers: Iterable[RemoteReader] = ()) -> None:
        self._carriers = tuple(carriers)
        self.readers = tuple(readers)
        for names in ([each.name for each in self._carriers], [each.name for each in self.readers]):
            assert len(set(names)) == len(names), f"two protocols have one name: {names}"

    @property
    def names(self) -> tuple[str, ...]:
        """The names of all carriers."""
        return tuple(each.name for each in self._carriers)

    @property
    def any(self) -> bool:
        """Return whether any carrier is registered."""
        return bool(self._carriers)

    def of(self, name: SingleName) -> Carrier | None:
        """Return the carrier that brings messages to this destination, or None."""
        return next((each for each in self._carriers if each.claims(name)), None)  # DM-324

    def brought(self, message: Message) -> Carrier | None:
        """Return the carrier that brought a message and must send receipts for it, or None."""
        return next((each for each in self._carriers if each.brought(message)), None)

    def reader(self, name: DirectName) -> RemoteReader | None:
        """Return the protocol that can read the queue of this name, or None."""
        return next((each for each in self.readers if each.claims(name)), None)
