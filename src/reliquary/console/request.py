"""Represents a request of the control plane for admission."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from starlette.types import Scope

READS: Final = frozenset({"GET", "HEAD"})
"""The HTTP methods that change nothing."""


class Asked:
    """The attributes of a request of the control plane that identify its client."""

    def __init__(self, scope: Scope) -> None:
        self.method: str = scope["method"]
        self.path: str = scope["path"]
        self.fields: Sequence[tuple[bytes, bytes]] = scope["headers"]
        client = scope.get("client")
        self.peer: str = client[0] if client else ""

    def header(self, name: bytes) -> bytes | None:
        """Return the first value of a header; `name` is in lower case, and so are the names of the scope."""
        return next((value for key, value in self.fields if key == name), None)
