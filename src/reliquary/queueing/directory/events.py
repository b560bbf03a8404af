"""The requests to the directory, [MS-MQDMPR] 3.1.7.1.18 to 3.1.7.1.25; `DirectoryAnswer` answers each."""

from __future__ import annotations

from uuid import UUID

from reliquary.base.turn import Event
from reliquary.queueing.directory.queries import Filter, SortOrder
from reliquary.queueing.model.directory.objects import DirectoryObject, ObjectKind
from reliquary.queueing.model.events import Request


class CreateDirectoryObject(Request, frozen=True):
    """Create Directory Object, 3.1.7.1.18: add an object to the directory."""

    to: int
    subject: DirectoryObject
    attributes: tuple[str, ...] | None = None
    """The attributes that are published; None means all of them."""


class DeleteDirectoryObject(Request, frozen=True):
    """Delete Directory Object, 3.1.7.1.19: remove an object from the directory."""

    to: int
    kind: ObjectKind
    identifier: UUID


class ReadDirectory(Request, frozen=True):
    """Read Directory, 3.1.7.1.20: return the first object that passes every filter."""

    to: int
    kind: ObjectKind
    filters: tuple[Filter, ...] = ()
    attributes: tuple[str, ...] | None = None
    forced: bool = False
    """iForceDirectoryRead: ask the directory even while it is taken for offline."""


class ReadDirectoryBegin(Request, frozen=True):
    """Read Directory Begin, 3.1.7.1.21: open a query for all objects that pass every filter."""

    to: int
    kind: ObjectKind
    filters: tuple[Filter, ...] = ()
    attributes: tuple[str, ...] | None = None
    order: tuple[SortOrder, ...] = ()
    """The sort order of each attribute in `attributes`."""


class ReadDirectoryNext(Request, frozen=True):
    """Read Directory Next, 3.1.7.1.22: return the next object of a query."""

    to: int
    handle: int


class ReadDirectoryEnd(Request, frozen=True):
    """Read Directory End, 3.1.7.1.23: close a query."""

    to: int
    handle: int


class WriteDirectory(Request, frozen=True):
    """Write Directory, 3.1.7.1.24: change attributes of an object."""

    to: int
    subject: DirectoryObject
    attributes: tuple[str, ...] | None = None
    """The attributes that are written; None means all of them."""


class CheckDirectoryOnline(Request, frozen=True):
    """Check Directory Online, 3.1.7.1.25: test whether the directory can be reached."""

    to: int


class SwitchDirectory(Request, frozen=True):
    """Attach or detach the directory, as an administrator asks."""

    to: int
    attached: bool


class ImportDirectory(Request, frozen=True):
    """Write all these objects or none; objects that exist already are replaced."""

    to: int
    subjects: tuple[DirectoryObject, ...]


class DirectoryServersFound(Event, frozen=True):
    """The name resolver found these directory servers."""

    servers: tuple[str, ...]
