"""Logs administrative acts: each request of the control plane that changes something, or tries to.

    request --> its handler --> the answer is ready --> a line of the log is on disk --> the answer leaves

The name of an act is that of its handler, `purge_queue` is `purge-queue`; a handler tells with `tell` what it
works on, where the path does not say it.  Bodies are not logged, so no token or password is in the log.
"""

from __future__ import annotations

from typing import Any, Final

from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from reliquary.console.acts import DONE, REFUSED, ActsLog

CHANGES: Final = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_NOTES: Final = "reliquary.notes"


def tell(request: Request, **said: str) -> None:
    """Note the object of an act: `about`, `detail`, `act`, `who`, or `why` it was refused."""
    request.scope.setdefault(_NOTES, {}).update(said)


class Noted:
    """Logs the requests that change something; it runs after admission, which identifies the client."""

    def __init__(self, app: ASGIApp, acts: ActsLog) -> None:
        self._app = app
        self._acts = acts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and its answer back after the act was logged."""
        if scope["type"] != "http" or scope["method"] not in CHANGES:
            await self._app(scope, receive, send)
            return

        async def noted(message: Message) -> None:
            if message["type"] == "http.response.start" and "endpoint" in scope:
                await self._note(scope, message["status"])
            await send(message)

        await self._app(scope, receive, noted)

    async def _note(self, scope: Scope, status: int) -> None:
        notes: dict[str, str] = scope.get(_NOTES, {})
        by, client = scope["by"], scope.get("client")
        keys = (str(each) for each in scope.get("path_params", {}).values())
        why = notes.get("why", "" if status < 400 else f"status {status}")
        await self._acts.note(
            notes.get("who", by.name),
            client[0] if client else "",
            notes.get("act") or name_of(scope["endpoint"]),
            notes.get("about") or " ".join(keys),
            outcome=REFUSED if why else DONE,
            detail=notes.get("detail", ""),
            why=why,
        )


def name_of(handler: Any) -> str:
    """Return the name of an act from that of its handler."""
    return str(handler.__name__).strip("_").replace("_", "-")
