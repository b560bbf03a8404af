"""Creates the queues of the settings that are given only by name."""

from __future__ import annotations

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.engine.open import OpenedEngine
from reliquary.queueing.model.events import Answer, CreateQueue


async def make_queues(opened: OpenedEngine, names: tuple[str, ...]) -> None:
    """Create the queues that are missing."""
    for name in names:
        answer = await opened.engine.ask(lambda to, name=name: CreateQueue(to, name))  # type: ignore[misc]
        assert isinstance(answer, Answer), f"no answer: {answer!r}"
        if answer.status not in (HResult.OK, HResult.QUEUE_EXISTS):
            raise UsageError(f"the queue {name!r} cannot be made: {answer.why}")
