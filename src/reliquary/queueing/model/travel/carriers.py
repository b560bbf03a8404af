"""Carriers and remote readers: what the queue manager has to know of the protocols beside it.

    destination name --> Carriers.of       --> the carrier that brings messages there, or none: they wait
    message          --> Carriers.brought  --> the carrier that brought it, and owes its sender receipts
    name to read     --> Carriers.reader   --> the protocol that reads a queue of another manager, or none

A carrier describes itself once, when the manager is built.  Everything else goes by signals
(`transfer`), and a signal for a carrier names that carrier, so that no other machine gets it.
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
    """Refuses a message that the carrier cannot bring to this destination, with a UsageError."""

    def __call__(self, state: State, name: SingleName, message: Message, *, in_transaction: bool) -> None:
        """Return None where the message can go."""


def _accept(state: State, name: SingleName, message: Message, *, in_transaction: bool) -> None:
    del state, name, message, in_transaction


def _brings_nothing(message: Message) -> bool:
    del message
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Carrier:
    """A protocol that brings messages to other managers, as the queue manager sees it."""

    name: str
    """The name of its machine in the engine; the history shows it as `protocol`."""
    claims: Callable[[SingleName], bool]
    """Whether messages for this destination go by it."""
    check: Check = _accept
    """Called for each message before it is accepted."""
    takes_batches: bool = False
    """It takes messages itself (`HoldWanted`); else they are handed to it one by one."""
    carries_signatures: bool = False
    """Messages that ask for an XML signature can go by it."""
    signs: bool = False
    """It has a key to sign them with."""
    reports_refusals: bool = True
    """A peer that refuses a message also writes the acknowledgement; else the sending manager writes it."""
    acknowledgements: frozenset[MessageClass] = frozenset(MessageClass)
    """The classes of acknowledgements that it can bring to an administration queue elsewhere."""
    brought: Callable[[Message], bool] = _brings_nothing
    """Whether a message came by it and its sender waits for receipts (`ReceiptDue`)."""
    labels: Callable[[SingleName], str] | None = None
    """What the history shows as `protocol` for a destination, where that is not `name`."""

    def label(self, name: SingleName) -> str:
        """Return what the history shows as `protocol` for messages to this destination."""
        return self.name if self.labels is None else self.labels(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class RemoteReader:
    """A protocol that can open, receive, peek and purge queues of other managers (`remote`)."""

    name: str
    """The name of its machine in the engine."""
    claims: Callable[[DirectName], bool]
    """Whether it can read the queue of this name."""
    own_addresses: bool = False
    """It also reads at addresses of this computer, for a manager that has no queues of its own."""


class Carriers:
    """The carriers and readers of one manager; where two claim a name, the first one has it."""

    def __init__(self, carriers: Iterable[Carrier] = (), readers: Iterable[RemoteReader] = ()) -> None:
        self._carriers = tuple(carriers)
        self.readers = tuple(readers)
        for names in ([each.name for each in self._carriers], [each.name for each in self.readers]):
            assert len(set(names)) == len(names), f"two protocols have one name: {names}"

    @property
    def any(self) -> bool:
        """Whether there is a carrier at all."""
        return bool(self._carriers)

    def of(self, name: SingleName) -> Carrier | None:
        """Return the carrier that brings messages to this destination."""
        return next((each for each in self._carriers if each.claims(name)), None)

    def brought(self, message: Message) -> Carrier | None:
        """Return the carrier that brought a message and owes its sender receipts."""
        return next((each for each in self._carriers if each.brought(message)), None)

    def reader(self, name: DirectName) -> RemoteReader | None:
        """Return the protocol that can read the queue of this name."""
        return next((each for each in self.readers if each.claims(name)), None)
