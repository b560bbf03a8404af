"""Provides the blocking version of `AsyncDirectory`, which lists and changes directory objects."""

from __future__ import annotations

from typing import Any

from reliquary.client.directory import AsyncDirectory, DirectoryInfo
from reliquary.client.sync.portal import Portal


class Directory:
    """Does the work of `AsyncDirectory` without `await`."""

    def __init__(self, portal: Portal, inner: AsyncDirectory) -> None:
        self._portal = portal
        self._inner = inner

    def info(self) -> DirectoryInfo:
        """Return the state of the directory, also while it cannot be reached."""
        return self._portal.call(self._inner.info())

    def attach(self) -> DirectoryInfo:
        """Connect the manager to the directory again."""
        return self._portal.call(self._inner.attach())

    def detach(self) -> DirectoryInfo:
        """Disconnect the directory until it is attached, also after a restart."""
        return self._portal.call(self._inner.detach())

    def objects(self, kind: str, *where: str) -> list[dict[str, Any]]:
        """Return the objects of a type for which all conditions hold, such as `actual_cost<9`."""
        return self._portal.call(self._inner.objects(kind, *where))

    def object(self, kind: str, which: str) -> dict[str, Any]:
        """Return one object, by its identifier or its name."""
        return self._portal.call(self._inner.object(kind, which))

    def add(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Create a directory object with these fields and return it."""
        return self._portal.call(self._inner.add(kind, **fields))

    def change(self, kind: str, which: str, **fields: Any) -> dict[str, Any]:
        """Change attributes of an object; the others stay."""
        return self._portal.call(self._inner.change(kind, which, **fields))

    def remove(self, kind: str, which: str) -> None:
        """Delete the directory object with this name or identifier."""
        self._portal.call(self._inner.remove(kind, which))

    def export_text(self) -> str:
        """Return all objects as a TOML file."""
        return self._portal.call(self._inner.export_text())

    def import_text(self, text: str) -> int:
        """Import all objects of a TOML file, or none of them; return their number."""
        return self._portal.call(self._inner.import_text(text))
