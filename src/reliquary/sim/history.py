"""Records everything that happens in a run, at the manager and at the applications.

    the manager's side        turns: the event, the facts, the answers, and whether a crash lost it
    the applications' side    the messages they sent, the answers they got, the messages they consumed

The history judges nothing; the checkers read it.  Every line of it goes into a digest, by which
two runs of one seed are compared.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from hashlib import sha256
from uuid import UUID

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.base.turn import Event, Fact
from reliquary.queueing.model.message import Acknowledgement, Message, MessageClass


class Violation(Exception):
    """Says that a promise of the queue manager was broken."""


class SenderKnowledge(Enum):
    """The sender's knowledge of a message."""

    OPEN = "open"
    """The request is not answered, or its transaction has not ended."""
    CONFIRMED = "confirmed"
    REFUSED = "refused"
    """The message must never be visible: the send was refused, or the commit was never requested."""
    UNKNOWN = "unknown"
    """The answer was lost, so the message may be stored or not."""


@dataclass(slots=True)
class Sending:
    """One message, from the view of its sender."""

    body: bytes
    label: str
    sender: str
    number: int
    """The number of the message among those of its sender."""
    queue: str
    priority: int
    express: bool
    request: int
    """A number that all messages of one request share: all of them are stored, or none."""
    standing: SenderKnowledge = SenderKnowledge.OPEN
    transaction: UUID | None = None
    asks: Acknowledgement | None = None


@dataclass(slots=True)
class Decision:
    """The outcome of a transaction, from the view of its coordinator."""

    transaction: UUID
    commit: bool
    prepared: bool
    """Whether the manager confirmed the prepare; otherwise the transaction is to abort."""
    answers: list[tuple[bool, HResult]] = field(default_factory=list)
    """For each request to decide: whether it was a commit, and the status of the answer."""


@dataclass(slots=True)
class Turned:
    """One turn of the manager."""

    number: int
    process_number: int
    batch: int
    """The number of the batch with which its changes are applied."""
    event: Event
    facts: tuple[Fact, ...]
    answers: tuple[tuple[int, object], ...]
    """The answers of this turn, each with its receiver."""
    now: Instant
    lost: bool = False
    """Whether a crash lost the durable facts; then no answer of the turn may have been sent."""
    forgotten: bool = False
    """Whether the store was restored from a backup without this turn; others may have seen its effects."""

    @property
    def kept(self) -> bool:
        """Return whether its durable facts are in the store."""
        return not self.lost and not self.forgotten


@dataclass(slots=True)
class History:
    """The record of a run."""

    say: Callable[[str], None] | None = None
    turns: list[Turned] = field(default_factory=list)
    requests: dict[tuple[int, int], Event] = field(default_factory=dict)
    """The requests, by the run of the process and the number of the caller."""
    sendings: dict[bytes, Sending] = field(default_factory=dict)
    consumed: dict[bytes, int] = field(default_factory=dict)
    """Messages that an application owns permanently and has proof of, with the turn of the proof, if that is
    kept."""
    intended: set[bytes] = field(default_factory=set)
    """Messages that an application has requested to delete."""
    decisions: list[Decision] = field(default_factory=list)
    feeds: dict[tuple[int, str], dict[int, tuple[int, int]]] = field(default_factory=dict)
    """The messages that readers of feeds got: by queue and reader, one message for each number."""
    read_to_the_end: set[tuple[int, str]] = field(default_factory=set)
    """The readers that have got all messages."""
    processes: int = 0
    crashes: int = 0
    failures: int = 0
    """The number of crashes after a failed write."""
    checkpoints: int = 0
    restores: int = 0
    _consumptions: list[tuple[bytes, int]] = field(default_factory=list)
    """All messages that were ever in `consumed`."""
    _pages: list[tuple[tuple[int, str], Mapping[int, tuple[int, int]], int]] = field(default_factory=list)
    """All pages that were ever in `feeds`, with their turns."""
    _forgotten: set[int] = field(default_factory=set)
    _digest: str = ""

    def note(self, moment: int, line: str) -> None:
        """Add a line to the log of the run and to its digest."""
        self._digest = sha256(f"{self._digest}{moment} {line}".encode()).hexdigest()
        if self.say is not None:
            self.say(f"{moment / 1_000_000:10.6f}  {line}")

    @property
    def digest(self) -> str:
        """Return a digest that is equal for two runs of one seed, and differs for different seeds."""
        return self._digest

    # -- what applications know

    def sending(self, sending: Sending) -> None:
        """Record that an application sends a message."""
        assert sending.body not in self.sendings, f"{sending.body!r} is sent twice"
        self.sendings[sending.body] = sending

    def settle(self, sendings: Iterable[Sending], standing: SenderKnowledge) -> None:
        """Record that an application has the outcome of the messages that it sent."""
        for sending in sendings:
            sending.standing = standing

    def intend(self, bodies: Iterable[bytes]) -> None:
        """Record that an application requests to delete these messages: it acknowledges or commits."""
        self.intended.update(bodies)

    def consume(self, bodies: Iterable[bytes], turn: int) -> None:
        """Record that an application owns these messages permanently."""
        for body in bodies:
            self._consumptions.append((body, turn))
            if turn not in self._forgotten:
                self.consumed.setdefault(body, turn)

    def read_feed(self, queue: int, reader: str, rows: Mapping[int, tuple[int, int]], turn: int) -> None:
        """Record that a reader of a feed got these messages, under their numbers."""
        self.feeds.setdefault((queue, reader), {}).update(rows)
        self._pages.append(((queue, reader), rows, turn))

    # -- restores

    def is_forgotten(self, turn: int) -> bool:
        """Return whether the store was restored from a backup that does not have this turn."""
        return turn in self._forgotten

    def restore(self, kept: Container[int]) -> None:
        """Record that the store was restored from a backup with exactly these turns."""
        self.restores += 1
        for turned in self.turns:
            turned.forgotten = turned.number not in kept
        self._forgotten = {turned.number for turned in self.turns if turned.forgotten}
        self.feeds.clear()
        for key, rows, turn in self._pages:
            if turn not in self._forgotten:
                self.feeds.setdefault(key, {}).update(rows)
        self.consumed.clear()
        for body, turn in self._consumptions:
            if turn not in self._forgotten:
                self.consumed.setdefault(body, turn)


def named(message: Message) -> bytes:
    """Return the name of a message: its body, or for an acknowledgement its content and its subject.

    An acknowledgement that is transferred may repeat another one, so its Identifier belongs to its name.
    """
    if message.message_class == MessageClass.NORMAL:
        return message.body
    name = acknowledged(message.label, MessageClass(message.message_class))
    if not message.soap_header and not message.soap_envelope:
        return name
    return name + f" by {message.identifier}".encode()


def acknowledged(label: str, reason: MessageClass) -> bytes:
    """Return the name of an acknowledgement of a message."""
    return f"{reason.name} of {label}".encode()


def shown(body: bytes) -> str:
    """Return a body without the padding that only makes it longer."""
    return body.partition(b"|")[0].decode()
