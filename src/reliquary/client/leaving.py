"""How a block is left: its resources are released, and an error inside stays the one that is raised."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from reliquary.client.errors import NotOpen, ReliquaryError


async def let_go(close: Callable[[], Awaitable[None]], error: BaseException | None) -> None:
    """Close; a thing that has closed by itself is closed, and an error of the block is not hidden."""
    try:
        await close()
    except NotOpen:
        return
    except ReliquaryError as why:
        if error is None:
            raise
        error.add_note(f"and then: {why}")
