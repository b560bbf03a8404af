"""Implements the directory of a server, by its control plane."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote, urlencode

import msgspec

from reliquary.client.directory import DirectoryInfo
from reliquary.client.wire import Wire


class _Objects(msgspec.Struct):
    objects: list[dict[str, Any]]
    next: str = ""


class _Count(msgspec.Struct):
    objects: int


_info = msgspec.json.Decoder(DirectoryInfo)
_object = msgspec.json.Decoder(dict[str, Any])
_objects = msgspec.json.Decoder(_Objects)
_count = msgspec.json.Decoder(_Count)


class RemoteDirectory:
    """The directory of a server; each method is one request."""

    def __init__(self, control: Wire) -> None:
        self._control = control

    async def info(self) -> DirectoryInfo:
        """Return the state of the directory, also while it cannot be reached."""
        return await self._control.read("GET", "/directory", _info)

    async def attach(self) -> DirectoryInfo:
        """Connect the directory again; a repeated request has no further effect."""
        return await self._control.read("POST", "/directory/attach", _info)

    async def detach(self) -> DirectoryInfo:
        """Disconnect the directory; a repeated request has no further effect."""
        return await self._control.read("POST", "/directory/detach", _info)

    async def objects(self, kind: str, *where: str) -> list[dict[str, Any]]:
        """Return the objects of a type for which all conditions hold, page after page."""
        found: list[dict[str, Any]] = []
        after: str | None = None
        while after != "":
            query = [("where", each) for each in where] + ([("after", after)] if after else [])
            path = f"{_path(kind)}?{urlencode(query)}" if query else _path(kind)
            page = await self._control.read("GET", path, _objects)
            found += page.objects
            after = page.next
        return found

    async def object(self, kind: str, which: str) -> dict[str, Any]:
        """Return one directory object by its name or identifier."""
        return await self._control.read("GET", _path(kind, which), _object)

    async def add(self, kind: str, **fields: Any) -> dict[str, Any]:
        """Create a directory object with these fields and return it."""
        return await self._control.change("POST", _path(kind), _object, fields)

    async def change(self, kind: str, which: str, **fields: Any) -> dict[str, Any]:
        """Change attributes of an object; a repeated request has no further effect."""
        return await self._control.read("PATCH", _path(kind, which), _object, fields)

    async def remove(self, kind: str, which: str) -> None:
        """Delete the directory object with this name or identifier."""
        await self._control.do("DELETE", _path(kind, which))

    async def export_text(self) -> str:
        """Return all objects as a TOML file."""
        return await self._control.text("GET", "/directory/export")

    async def import_text(self, text: str) -> int:
        """Import all objects of a TOML file, or none of them; a repeated request has no further effect."""
        answer = await self._control.read("POST", "/directory/import", _count, text.encode())
        return answer.objects


def _path(*parts: str) -> str:
    return "/".join(("/directory", *(quote(part, safe="") for part in parts)))
