"""A bench with the words of the scenarios: the events that others may receive, handles, cursors, waits.

A scene is one scenario T01 to T80 of the list this manager was built from: given, when, then.  It is
marked with its number and with the requirements it shows; `test_every_scene_is_played` counts them.
"""

from __future__ import annotations

from typing import Any
from uuid import UUID

from reliquary.base.time import seconds
from reliquary.queueing.model import events
from reliquary.queueing.model.events import FOREVER_WAIT, Access, Seek, Share
from reliquary.queueing.model.facts import PositionAvailable, PositionDeleted
from reliquary.queueing.model.message import MessageClass
from tests.queueing.answers import body
from tests.queueing.manager_harness import Bench


class Scene(Bench):
    """A manager that tells when a position becomes available or is deleted."""

    def __init__(self, *queues: str, **options: Any) -> None:
        super().__init__(*queues, **{"subscribed": [PositionAvailable, PositionDeleted]} | options)

    # -- Message Position Deleted and Message Position Available

    @property
    def deleted(self) -> list[MessageClass]:
        """The reasons of every Message Position Deleted so far."""
        return [signal.reason for signal in self.signals if isinstance(signal, PositionDeleted)]

    def became_available(self, path: str) -> int:
        """Return how often Message Position Available was raised on a queue."""
        number = self.queue(path).number
        return sum(isinstance(each, PositionAvailable) and each.queue == number for each in self.signals)

    def lookup_ids(self, path: str = "orders") -> list[int]:
        """Return the LookupIdentifiers of what is available, in the order of the queue."""
        shown = self.ask(events.BrowseMessages(0, path))
        return [each.position.lookup_id for each in shown.messages]

    # -- handles and cursors

    def open(self, path: str, access: Access = Access.RECEIVE, share: Share = Share.DENY_NONE) -> int:
        """Open a queue and return its handle."""
        handle: int = self.ask(events.OpenQueue(0, path, access, share)).handle
        assert handle
        return handle

    def open_cursor(self, handle: int) -> int:
        """Open a cursor and return its handle."""
        cursor: int = self.ask(events.OpenCursor(0, handle)).handle
        assert cursor
        return cursor

    def peek(self, queue: int | str, cursor: int = 0, *, following: bool = False, timeout: float = 0) -> Any:
        """Return the body that Peek or Peek Next shows, or the status; None while it waits."""
        return body(self.ask(events.PeekMessage(0, queue, seconds(timeout), cursor, following)))

    def take(self, queue: int | str, **parameters: Any) -> Any:
        """Return the body that a receive gets, or the status; None while it waits."""
        return body(self.receive(queue, **parameters))

    def look_up(self, queue: int | str, lookup_id: int, seek: Seek = Seek.CURRENT, **parameters: Any) -> Any:
        """Return the body that is found from a LookupIdentifier, or the status."""
        return body(self.ask(events.LookUpMessage(0, queue, lookup_id, seek, **parameters)))

    def wait(self, queue: int | str, *, timeout: float | None = None, tag: int = 0, **parameters: Any) -> int:
        """Begin a receive that waits; what it gets is in `heard_by`."""
        span = FOREVER_WAIT if timeout is None else seconds(timeout)
        return self.begin_asking(events.ReceiveMessages(0, queue, timeout=span, tag=tag, **parameters))

    def wait_to_peek(self, queue: int | str, cursor: int = 0, *, following: bool = False) -> int:
        """Begin a peek that waits."""
        return self.begin_asking(events.PeekMessage(0, queue, FOREVER_WAIT, cursor, following))

    def heard_by(self, caller: int) -> Any:
        """Return the body that a waiting caller got, or the status; None while it waits."""
        return body(self.answer_to(caller))

    # -- transactions

    def commit(self, transaction: UUID) -> Any:
        """Commit a transaction and return the status."""
        return self.ask(events.CommitTransaction(0, transaction)).status

    def abort(self, transaction: UUID) -> Any:
        """Abort a transaction and return the status."""
        return self.ask(events.AbortTransaction(0, transaction)).status

    def prepare(self, transaction: UUID, *, single_phase: bool = True) -> Any:
        """Prepare a transaction and return the status."""
        return self.ask(events.PrepareTransaction(0, transaction, single_phase)).status
