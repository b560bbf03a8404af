"""Closes the resource of a `with` block at its end, and keeps an error inside the block."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from reliquary.client.errors import NotOpen, ReliquaryError


async def let_go(close: Callable[[], Awaitable[None]], error: BaseException | None) -> None:
    """Close a resource that may be closed already; if the block raised `error`, add a failure as a note."""
    try:
        await close()
    except NotOpen:
        return
    except ReliquaryError as why:
        if error is None:
            raise
        error.add_note(f"and then: {why}")
