"""A request of the control plane as admission sees it."""

from __future__ import annotations

from collections.abc import Sequence

from starlette.types import Scope


class Asked:
    """The attributes of a request of the control plane that identify its client."""

    def __init__(self, scope: Scope) -> None:
        self.method: str = scope["method"]
        self.fields: Sequence[tuple[bytes, bytes]] = scope["headers"]
        client = scope.get("client")
        self.peer: str = client[0] if client else ""

    def header(self, name: bytes) -> bytes | None:
        """Return the first value of a header; `name` is in lower case, and so are the names of the scope."""
        return next((value for key, value in self.fields if key == name), None)
