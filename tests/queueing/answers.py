"""What an answer says, short enough to compare: bodies, or the status of a refusal."""

from __future__ import annotations

from typing import Any

from reliquary.base.hresult import HResult
from reliquary.base.time import later, seconds
from reliquary.queueing.model.events import Received
from reliquary.queueing.model.state import State
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import durable


def body(answer: Any) -> Any:
    """Return the body of the one message, or the status of the refusal."""
    found = bodies(answer)
    if isinstance(found, list):
        assert len(found) == 1, f"{len(found)} messages"
        return found[0]
    return found


def bodies(answer: Any) -> Any:
    """Return the bodies of the messages, or the status of the refusal, or None while it waits."""
    if answer is None:
        return None
    if answer.status is not HResult.OK:
        return answer.status
    assert isinstance(answer, Received)
    return [each.message.body for each in answer.messages]


def sleep_through(bench: Bench, span: float) -> None:
    """Let time pass without any timer: they fire late, and what they were for must hold before."""
    bench.now = later(bench.now, seconds(span))


def everything(state: State) -> tuple[Any, ...]:
    """Return what a refused request must not change: the durable state and the state in memory."""
    return (
        durable(state),
        state.numbers.sequence,
        state.totals.bytes,
        {
            each.handle: (each.queue, set(each.locked), set(each.cursors))
            for each in state.open.handles.values()
        },
        {each.handle: (each.place, each.state) for each in state.open.cursors.values()},
        dict(state.open.callers),
        {each.identifier: (list(each.operations), each.size) for each in state.transactions.open.values()},
        {number: (set(queue.order.locked), queue.counts.reserved) for number, queue in state.queues.items()},
        {
            number: (len(queue.readers.waiting), queue.counts.delayed)
            for number, queue in state.queues.items()
        },
        {number: set(queue.readers.descriptors) for number, queue in state.queues.items()},
        {number: set(queue.subqueues) for number, queue in state.queues.items()},
    )
