"""Implements the directory of a manager in process."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar
from uuid import UUID

from reliquary.base.faults import UsageError
from reliquary.client.directory import DirectoryInfo
from reliquary.client.errors import BadRequest, error_of
from reliquary.client.inbox import Inbox
from reliquary.queueing.directory import events
from reliquary.queueing.directory.exchange import changed, import_text, kind_named, subject_of
from reliquary.queueing.directory.results import DirectoryAnswer
from reliquary.queueing.model.state import State
from reliquary.views import directory as views

T = TypeVar("T")


class LocalDirectory:
    """The directory of a manager in process; changes are events for the engine, and answers show only synced
    state.
    """

    def __init__(self, inbox: Inbox, state: State, settled: Callable[[], Awaitable[None]]) -> None:
        self._inbox = inbox
        self._state = state
        self._settled = settled

    async def info(self) -> DirectoryInfo:
        """Return the state of the directory, also while it cannot be reached."""
        seen = views.status(self._state)
        return await self._after_sync(
            DirectoryInfo(
                integrated=seen.integrated,
                attached=seen.attached,
                connection=seen.connection,
                servers=list(seen.servers),
                objects=seen.objects,
            )
        )

    async def attach(self) -> DirectoryInfo:
        """Connect the manager to the directory again."""
        await self._inbox.do(lambda to: events.SwitchDirectory(to, attached=True))
        return await self.info()

    async def detach(self) -> DirectoryInfo:
        """Disconnect the manager from the directory."""
        await self._inbox.do(lambda to: events.SwitchDirectory(to, attached=False))
        return await self.info()

    async def objects(self, kind: str, *where: str) -> list[dict[str, Any]]:
        """Return the objects of a type for which all conditions hold."""
        with _refusals():
            seen = list(views.listed(self._state, kind_named(kind), where))
        return await self._after_sync(seen)

    async def object(self, kind: str, which: str) -> dict[str, Any]:
        """Return one directory object by its name or identifier."""
        with _refusals():
            seen = views.shown(self._state, kind_named(kind), which)
        return await self._after_sync(seen)

    async def add(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Create a directory object with these fields and return it."""
        with _refusals():
            subject = subject_of(kind_named(kind), fields)
        made = await self._inbox.ask(lambda to: events.CreateDirectoryObject(to, subject), DirectoryAnswer)
        assert made.subject is not None, "it was created"
        return await self.object(kind, str(made.subject.identifier))

    async def change(self, kind: str, which: str, **fields: Any) -> dict[str, Any]:
        """Change attributes of an object."""
        with _refusals():
            identifier = self._identifier(kind, which)
            subject, attributes = changed(kind_named(kind), identifier, fields)
        await self._inbox.do(lambda to: events.WriteDirectory(to, subject, attributes))
        return await self.object(kind, str(identifier))

    async def remove(self, kind: str, which: str) -> None:
        """Delete the directory object with this name or identifier."""
        with _refusals():
            identifier, known = self._identifier(kind, which), kind_named(kind)
        await self._inbox.do(lambda to: events.DeleteDirectoryObject(to, known, identifier))

    async def export_text(self) -> str:
        """Return all objects as a TOML file."""
        with _refusals():
            text = views.exported(self._state)
        return await self._after_sync(text)

    async def import_text(self, text: str) -> int:
        """Import all objects of a TOML file, or none of them; return their number."""
        with _refusals():
            subjects = import_text(text)
        await self._inbox.do(lambda to: events.ImportDirectory(to, subjects))
        return len(subjects)

    def _identifier(self, kind: str, which: str) -> UUID:
        return views.found(self._state, kind_named(kind), which).identifier

    async def _after_sync(self, seen: T) -> T:
        await self._settled()
        return seen


@contextmanager
def _refusals() -> Iterator[None]:
    try:
        yield
    except views.NotShown as why:
        raise error_of(why.answer.status.name, str(why)) from why
    except UsageError as why:
        raise BadRequest("INVALID_PARAMETER", str(why)) from why
