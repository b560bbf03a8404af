"""What the directory is asked, [MS-MQDMPR] 3.1.7.1.18 to 3.1.7.1.25; a `DirectoryAnswer` is told."""

from __future__ import annotations

from uuid import UUID

from reliquary.base.turn import Event
from reliquary.queueing.directory.queries import Filter, SortOrder
from reliquary.queueing.model.directory.objects import DirectoryObject, Kind
from reliquary.queueing.model.events import Request


class CreateDirectoryObject(Request, frozen=True):
    """Create Directory Object, 3.1.7.1.18."""

    to: int
    subject: DirectoryObject
    attributes: tuple[str, ...] | None = None
    """Those that are published; None is all of them."""


class DeleteDirectoryObject(Request, frozen=True):
    """Delete Directory Object, 3.1.7.1.19."""

    to: int
    kind: Kind
    identifier: UUID


class ReadDirectory(Request, frozen=True):
    """Read Directory, 3.1.7.1.20: the first object that every filter lets through."""

    to: int
    kind: Kind
    filters: tuple[Filter, ...] = ()
    attributes: tuple[str, ...] | None = None
    forced: bool = False
    """iForceDirectoryRead: ask the directory even when it was not there a moment ago."""


class ReadDirectoryBegin(Request, frozen=True):
    """Read Directory Begin, 3.1.7.1.21: all the objects that every filter lets through."""

    to: int
    kind: Kind
    filters: tuple[Filter, ...] = ()
    attributes: tuple[str, ...] | None = None
    order: tuple[SortOrder, ...] = ()
    """One for each attribute."""


class ReadDirectoryNext(Request, frozen=True):
    """Read Directory Next, 3.1.7.1.22."""

    to: int
    handle: int


class ReadDirectoryEnd(Request, frozen=True):
    """Read Directory End, 3.1.7.1.23."""

    to: int
    handle: int


class WriteDirectory(Request, frozen=True):
    """Write Directory, 3.1.7.1.24."""

    to: int
    subject: DirectoryObject
    attributes: tuple[str, ...] | None = None
    """Those that are written; None is all of them."""


class CheckDirectoryOnline(Request, frozen=True):
    """Check Directory Online, 3.1.7.1.25."""

    to: int


class SwitchDirectory(Request, frozen=True):
    """An administrator attaches the directory or detaches it."""

    to: int
    attached: bool


class ImportDirectory(Request, frozen=True):
    """Write all these objects or none, whether they are there already or not."""

    to: int
    subjects: tuple[DirectoryObject, ...]


class DirectoryServersFound(Event, frozen=True):
    """Whoever resolves names says which directory servers there are."""

    servers: tuple[str, ...]
