"""Every request in every state that forbids it: the specification's status, and nothing changes.

What can be wrong follows from a request's fields: one that names a queue may name a deleted one, one
that names a transaction may name one that has ended.  So a request that is new has to be given its
answers here before this file passes.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any, Final
from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing import manager
from reliquary.queueing.directory.events import (
    CheckDirectoryOnline,
    CreateDirectoryObject,
    DeleteDirectoryObject,
    ImportDirectory,
    ReadDirectory,
    ReadDirectoryBegin,
    ReadDirectoryEnd,
    ReadDirectoryNext,
    SwitchDirectory,
    WriteDirectory,
)
from reliquary.queueing.model import events
from reliquary.queueing.model.directory.objects import ObjectKind, Site
from reliquary.queueing.model.events import Access, AccessChange
from reliquary.queueing.model.security.principals import EVERYONE
from tests.queueing.answers import everything
from tests.queueing.manager_harness import message
from tests.scenes.harness import Scene

GONE, HERE, OTHER = "gone", "orders", "other"
UNKNOWN = UUID(int=99)
SITE = Site(identifier=UNKNOWN, name="new")


class Wrong(Enum):
    """What is wrong with the state when the request comes."""

    DELETED = "the queue of this name is deleted"
    DELETED_OPEN = "the queue behind the handle is deleted"
    CLOSED = "the handle is closed"
    OTHER_ACCESS = "the queue was opened for something else"
    CLOSED_CURSOR = "the cursor is closed"
    DELETED_TARGET = "the target is deleted"
    UNKNOWN_RECEIPT = "nothing is held under this receipt"
    NOT_HELD = "the message is not held"
    ENDED = "the transaction has ended"
    PREPARED = "the transaction is prepared"
    NEVER_SENT_TO = "there is no outgoing queue to this destination"
    ENDED_QUERY = "the query has ended"
    STOPPED = "the manager is stopped"
    NO_DIRECTORY = "the directory cannot be reached"
    UNKNOWN_OBJECT = "the object does not exist in the directory"


MAY_BE_WRONG: Final[Mapping[str, tuple[Wrong, ...]]] = {
    "path": (Wrong.DELETED,),
    "queue": (Wrong.DELETED, Wrong.DELETED_OPEN, Wrong.CLOSED, Wrong.OTHER_ACCESS),
    "handle": (Wrong.DELETED_OPEN, Wrong.CLOSED, Wrong.OTHER_ACCESS),
    "receipt": (Wrong.DELETED_OPEN, Wrong.CLOSED, Wrong.NOT_HELD),
    "cursor": (Wrong.CLOSED_CURSOR,),
    "target": (Wrong.DELETED_TARGET,),
    "acknowledge": (Wrong.UNKNOWN_RECEIPT,),
    "transaction": (Wrong.ENDED, Wrong.PREPARED),
    "destination": (Wrong.NEVER_SENT_TO,),
    "query": (Wrong.ENDED_QUERY,),
    "kind": (Wrong.NO_DIRECTORY,),
    "subject": (Wrong.NO_DIRECTORY, Wrong.UNKNOWN_OBJECT),
    "subjects": (Wrong.NO_DIRECTORY,),
    "identifier": (Wrong.UNKNOWN_OBJECT,),
}
"""The wrong values by the field of the request."""

HARMLESS: Final = frozenset(
    {
        "to", "by", "settings", "changes", "access", "share", "lease", "messages", "count", "timeout",
        "hold", "tag", "delete", "lookup_ids", "next", "lookup_id", "seek", "peek", "after", "limit",
        "single_phase", "format_name", "skip_directory", "attributes", "filters", "forced", "order",
        "attached", "owner", "decided_by", "change", "sid", "rights", "reject", "unseen",
    }
)  # fmt: skip
"""Fields that name nothing that could have gone."""

ALLOWED: Final = HResult.OK
"""The state does not forbid the request."""

_NOT_FOUND, _NOT_AVAILABLE = HResult.QUEUE_NOT_FOUND, HResult.QUEUE_NOT_AVAILABLE
_INVALID, _SEQUENCE = HResult.INVALID_HANDLE, HResult.TRANSACTION_SEQUENCE
_DENIED, _STATUS_NOT_FOUND = HResult.ACCESS_DENIED, HResult.STATUS_NOT_FOUND

READS: Final = {
    Wrong.DELETED: _NOT_FOUND,
    Wrong.DELETED_OPEN: _NOT_AVAILABLE,
    Wrong.CLOSED: _INVALID,
    Wrong.OTHER_ACCESS: _DENIED,
}
INSIDE: Final = {Wrong.ENDED: _SEQUENCE, Wrong.PREPARED: _SEQUENCE}
BY_NAME: Final = {Wrong.DELETED: _NOT_FOUND}

ANSWERS: Final[dict[type, dict[Wrong, HResult]]] = {
    events.CreateQueue: {Wrong.DELETED: ALLOWED},
    events.ChangeQueue: BY_NAME,
    events.DeleteQueue: BY_NAME,
    events.PurgeQueue: BY_NAME,
    events.ChangeAccess: BY_NAME,
    events.OpenQueue: BY_NAME,
    events.CloseQueue: {Wrong.DELETED_OPEN: ALLOWED, Wrong.CLOSED: _INVALID, Wrong.OTHER_ACCESS: ALLOWED},
    events.OpenCursor: {
        Wrong.DELETED_OPEN: _NOT_AVAILABLE,
        Wrong.CLOSED: _INVALID,
        Wrong.OTHER_ACCESS: _DENIED,
    },
    events.CloseCursor: {Wrong.CLOSED_CURSOR: _INVALID},
    events.SendMessages: READS | INSIDE,
    events.ReceiveMessages: READS
    | INSIDE
    | {Wrong.CLOSED_CURSOR: HResult.INVALID_PARAMETER, Wrong.UNKNOWN_RECEIPT: _INVALID},
    events.EndRead: {
        Wrong.DELETED_OPEN: _NOT_AVAILABLE,
        Wrong.CLOSED: _INVALID,
        Wrong.NOT_HELD: _SEQUENCE,
    },
    events.PeekMessage: READS | {Wrong.CLOSED_CURSOR: HResult.INVALID_PARAMETER},
    events.LookUpMessage: READS | INSIDE,
    events.BrowseMessages: READS,
    events.MoveMessage: READS | INSIDE | {Wrong.DELETED_TARGET: _NOT_FOUND},
    events.CancelRead: {
        Wrong.DELETED: _STATUS_NOT_FOUND,
        Wrong.DELETED_OPEN: _STATUS_NOT_FOUND,
        Wrong.CLOSED: _STATUS_NOT_FOUND,
        Wrong.OTHER_ACCESS: _STATUS_NOT_FOUND,
    },
    events.GetQueuePath: {},
    events.BeginTransaction: {},
    events.PrepareTransaction: {Wrong.ENDED: _SEQUENCE, Wrong.PREPARED: ALLOWED},
    events.CommitTransaction: {Wrong.ENDED: _SEQUENCE, Wrong.PREPARED: ALLOWED},
    events.AbortTransaction: {Wrong.ENDED: _SEQUENCE, Wrong.PREPARED: ALLOWED},
    # it gets the notice of an abort: DM-118
    events.DtcPrepare: {Wrong.ENDED: ALLOWED, Wrong.PREPARED: ALLOWED},
    events.DtcCommit: {Wrong.ENDED: _SEQUENCE, Wrong.PREPARED: ALLOWED},
    events.DtcAbort: {Wrong.ENDED: ALLOWED, Wrong.PREPARED: ALLOWED},  # what never was is aborted
    events.DtcReenlistmentCommit: {Wrong.ENDED: _SEQUENCE, Wrong.PREPARED: ALLOWED},
    events.DtcReenlistmentAbort: {Wrong.ENDED: _SEQUENCE, Wrong.PREPARED: ALLOWED},
    events.TakeOffline: {},
    events.BringOnline: {},
    events.PauseQueue: {Wrong.NEVER_SENT_TO: _NOT_FOUND},
    events.ResumeQueue: {Wrong.NEVER_SENT_TO: _NOT_FOUND},
    CreateDirectoryObject: {Wrong.NO_DIRECTORY: HResult.NO_DS, Wrong.UNKNOWN_OBJECT: ALLOWED},
    DeleteDirectoryObject: {
        Wrong.NO_DIRECTORY: HResult.NO_DS,
        Wrong.UNKNOWN_OBJECT: HResult.OBJECT_NOT_FOUND,
    },
    ReadDirectory: {Wrong.NO_DIRECTORY: HResult.NO_DS},
    ReadDirectoryBegin: {Wrong.NO_DIRECTORY: HResult.NO_DS},
    ReadDirectoryNext: {Wrong.ENDED_QUERY: _INVALID},
    ReadDirectoryEnd: {Wrong.ENDED_QUERY: _INVALID},
    WriteDirectory: {Wrong.NO_DIRECTORY: HResult.NO_DS, Wrong.UNKNOWN_OBJECT: HResult.OBJECT_NOT_FOUND},
    ImportDirectory: {Wrong.NO_DIRECTORY: HResult.NO_DS},
    CheckDirectoryOnline: {},
    SwitchDirectory: {},
}
QUERIES: Final = (ReadDirectoryNext, ReadDirectoryEnd)

OURS: Final = frozenset({"reliquary.queueing.feed.events", "reliquary.queueing.staging.events"})
"""Requests that the specification does not know: the tests of their rooms show what is refused."""
REQUESTS: Final[list[Any]] = [
    event for event in manager._RULES if issubclass(event, events.Request) and event.__module__ not in OURS
]


class Given:
    """A manager with all that can be wrong, and what a request to it may name."""

    def __init__(self) -> None:
        scene = self.scene = Scene(HERE, OTHER, GONE)
        scene.send(HERE, b"m1", b"m2")
        self.lookup_id = scene.lookup_ids(HERE)[0]
        self.reader = scene.open(HERE)
        self.deleted = {access: scene.open(GONE, access) for access in (Access.SEND, Access.MOVE)}
        self.closed = scene.open(HERE)
        self.opened_for = {access: scene.open(HERE, access) for access in (Access.SEND, Access.PEEK)}
        self.closed_cursor = scene.open_cursor(self.reader)
        self.prepared, self.active = scene.begin(), scene.begin()
        scene.prepare(self.prepared, single_phase=False)
        scene.ask(events.DeleteQueue(0, GONE))
        scene.ask(events.CloseQueue(0, self.closed))
        scene.ask(events.CloseCursor(0, self.closed_cursor))

    def fields(self, event: type, wrong: Wrong) -> dict[str, Any]:
        """Return the fields of the request, with one thing wrong."""
        sends = event is events.SendMessages
        elsewhere = self.opened_for[Access.PEEK if sends else Access.SEND]
        deleted = self.deleted[Access.SEND if sends else Access.MOVE]
        mistakes: dict[Wrong, dict[str, Any]] = {
            Wrong.DELETED: {"path": GONE, "queue": GONE},
            Wrong.DELETED_OPEN: dict.fromkeys(("queue", "handle", "receipt"), deleted),
            Wrong.CLOSED: dict.fromkeys(("queue", "handle", "receipt"), self.closed),
            Wrong.OTHER_ACCESS: dict.fromkeys(("queue", "handle"), elsewhere),
            Wrong.CLOSED_CURSOR: {"cursor": self.closed_cursor, "queue": self.reader},
            Wrong.DELETED_TARGET: {"target": GONE},
            Wrong.UNKNOWN_RECEIPT: {"acknowledge": self.closed},
            Wrong.NOT_HELD: {"lookup_ids": (self.lookup_id,)},
            Wrong.ENDED: {"transaction": UNKNOWN, "peek": False},
            Wrong.PREPARED: {"transaction": self.prepared, "peek": False},
            Wrong.NEVER_SENT_TO: {"destination": "DIRECT=OS:nowhere\\private$\\q"},
            Wrong.ENDED_QUERY: {"handle": self.closed},
            Wrong.STOPPED: {"destination": "DIRECT=OS:nowhere\\private$\\q", "attached": True},
            Wrong.NO_DIRECTORY: {},
            Wrong.UNKNOWN_OBJECT: {},
        }
        return self._right(event) | mistakes[wrong]

    def _right(self, event: type) -> dict[str, Any]:
        """Return the fields that a request must have, all of them right."""
        return {
            "to": 0, "path": HERE, "queue": HERE, "handle": self.reader, "receipt": self.reader,
            "cursor": 0, "transaction": None if event not in TRANSACTION_STEPS else self.active,
            "messages": (message(b"new"),), "changes": {"label": "new"}, "access": Access.RECEIVE,
            "lookup_id": self.lookup_id, "target": OTHER, "delete": True, "tag": 1,
            "kind": ObjectKind.SITE, "identifier": UNKNOWN, "subject": SITE, "subjects": (SITE,),
            "change": AccessChange.GRANT, "sid": EVERYONE, "rights": 1,
            "format_name": f"DIRECT=OS:BENCH\\private$\\{HERE}",
        }  # fmt: skip

    def request(self, event: type, wrong: Wrong) -> Any:
        """Return the request, made of those of the fields that it has."""
        chosen = self.fields(event, wrong)
        return event(**{name: chosen[name] for name in event.__struct_fields__ if name in chosen})  # type: ignore[attr-defined]


OUTCOMES: Final = (
    events.CommitTransaction,
    events.AbortTransaction,
    events.DtcCommit,
    events.DtcAbort,
    events.DtcReenlistmentCommit,
    events.DtcReenlistmentAbort,
)
"""What a manager takes even when it is not ready: without them it may never be."""
TRANSACTION_STEPS: Final = (events.PrepareTransaction, events.DtcPrepare, *OUTCOMES)

FORBIDDEN: Final = [
    pytest.param(event, wrong, status, id=f"{event.__name__}: {wrong.value}")
    for event, answers in ANSWERS.items()
    for wrong, status in answers.items()
    if status is not ALLOWED
]


def names_of(event: Any, field: str) -> str:
    """Return what a field names: the handle of a query is none of a queue."""
    return "query" if field == "handle" and event in QUERIES else field


def test_every_request_has_its_answers() -> None:
    assert set(ANSWERS) == set(REQUESTS)
    for event in REQUESTS:
        fields = {names_of(event, field) for field in event.__struct_fields__}
        assert fields <= MAY_BE_WRONG.keys() | HARMLESS, f"what can be wrong with {event.__name__}?"
        expected = {wrong for field in fields & MAY_BE_WRONG.keys() for wrong in MAY_BE_WRONG[field]}
        expected -= {Wrong.UNKNOWN_OBJECT} if event is events.BeginTransaction else set()  # it names it
        assert set(ANSWERS[event]) == expected, f"{event.__name__} lacks an answer"


@pytest.mark.spec(
    "DM-101", "DM-106", "DM-112", "DM-131", "DM-167", "DM-199", "DM-209", "DM-210", "DM-211", "DM-217",
    "DM-223", "DM-226", "DM-237",
)  # fmt: skip
@pytest.mark.parametrize(("event", "wrong", "status"), FORBIDDEN)
def test_a_forbidden_request_gets_its_status_and_changes_nothing(
    event: type, wrong: Wrong, status: HResult
) -> None:
    given = Given()
    scene = given.scene
    if wrong is Wrong.NO_DIRECTORY:
        scene.ask(SwitchDirectory(0, attached=False))
    before, turns = everything(scene.state), len(scene.turns)
    answer = scene.ask(given.request(event, wrong))
    assert answer.status is status
    assert answer.why
    assert everything(scene.state) == before
    assert not [fact for turn in scene.turns[turns:] for fact in turn.facts]


@pytest.mark.parametrize(
    ("event", "wrong"),
    [
        pytest.param(event, wrong, id=f"{event.__name__}: {wrong.value}")
        for event, answers in ANSWERS.items()
        for wrong, status in answers.items()
        if status is ALLOWED
    ],
)
def test_what_is_not_forbidden_is_done(event: type, wrong: Wrong) -> None:
    given = Given()
    assert given.scene.ask(given.request(event, wrong)).status is HResult.OK


@pytest.mark.spec("DM-015", "DM-099")
@pytest.mark.parametrize("event", [pytest.param(each, id=each.__name__) for each in REQUESTS])
def test_a_manager_that_is_stopped_takes_no_request_but_outcomes(event: Any) -> None:
    given = Given()
    scene = given.scene
    request = given.request(event, Wrong.STOPPED)
    scene.stop()
    before, turns = everything(scene.state), len(scene.turns)
    answer = scene.ask(request)
    if event in OUTCOMES:
        assert answer.status is not HResult.SERVICE_NOT_AVAILABLE
        return
    assert answer.status is HResult.SERVICE_NOT_AVAILABLE
    assert answer.why == "the queue manager is stopped"
    assert everything(scene.state) == before
    assert not [fact for turn in scene.turns[turns:] for fact in turn.facts]
