"""Shows and changes the directory of managers.  Objects are plain dictionaries of their attributes.

    directory = manager.directory
    await directory.add("site", name="north")
    await directory.objects("routing-link", "actual_cost<9")
    await directory.change("site", "north", foreign_site=True)

An object is named by its identifier or, where names are unique, by its name.
"""

from __future__ import annotations

from typing import Any, Protocol

import msgspec


class DirectoryInfo(msgspec.Struct, frozen=True, kw_only=True):
    """The state of the directory at the time of the request."""

    integrated: bool
    """Whether the manager takes part in it."""
    attached: bool
    """Whether an administrator has attached it."""
    connection: str
    """The connection state of the manager: apart, online or offline."""
    servers: list[str]
    objects: dict[str, int]
    """The number of objects of each type."""


class AsyncDirectory(Protocol):
    """The operations of a directory."""

    async def info(self) -> DirectoryInfo:
        """Return the state of the directory, also while it cannot be reached."""

    async def attach(self) -> DirectoryInfo:
        """Connect the manager to the directory again."""

    async def detach(self) -> DirectoryInfo:
        """Disconnect the directory until it is attached, also after a restart."""

    async def objects(self, kind: str, *where: str) -> list[dict[str, Any]]:
        """Return the objects of a type for which all conditions hold, such as `actual_cost<9`."""

    async def object(self, kind: str, which: str) -> dict[str, Any]:
        """Return one object, by its identifier or its name."""

    async def add(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Create a directory object with these fields and return it."""

    async def change(self, kind: str, which: str, **fields: Any) -> dict[str, Any]:
        """Change attributes of an object; the others stay."""

    async def remove(self, kind: str, which: str) -> None:
        """Delete the directory object with this name or identifier."""

    async def export_text(self) -> str:
        """Return all objects as a TOML file."""

    async def import_text(self, text: str) -> int:
        """Import all objects of a TOML file, or none of them; return their number."""
