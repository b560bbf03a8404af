"""Tests requests of applications, from their beginning to their answer."""

from __future__ import annotations

import pytest

from reliquary.base.time import Instant, later, seconds
from reliquary.protocols.mqqp.client import tasks
from reliquary.protocols.mqqp.client.phases import TaskPhase
from reliquary.protocols.mqqp.client.state import Task
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    BrowseMessages,
    LookUpMessage,
    OpenCursor,
    PeekMessage,
    PurgeQueue,
    ReceiveMessages,
    Request,
)
from tests.protocols.mqqp.client.two_managers import TwoManagers

HOLD = seconds(5)
KINDS: list[tuple[Request, bool, bool, bool]] = [
    # the request, whether it is a read, receives, holds
    (ReceiveMessages(1, "q"), True, True, False),
    (ReceiveMessages(1, "q", hold=HOLD), True, True, True),
    (PeekMessage(1, "q"), True, False, False),
    (LookUpMessage(1, "q", 1), True, False, False),
    (LookUpMessage(1, "q", 1, hold=HOLD), True, False, False),
    (LookUpMessage(1, "q", 1, peek=False), True, True, False),
    (LookUpMessage(1, "q", 1, peek=False, hold=HOLD), True, True, True),
    (BrowseMessages(1, "q"), True, False, False),
    (PurgeQueue(1, "q"), False, False, False),
    (OpenCursor(1, 2), False, False, False),
]


@pytest.mark.parametrize(("request_", "reads", "receives", "holds"), KINDS)
def test_what_a_task_does_with_messages(request_: Request, reads: bool, receives: bool, holds: bool) -> None:
    task = Task(1, 1, request_, 1)
    assert (tasks.is_read(task), tasks.receives(task), tasks.holds(task)) == (reads, receives, holds)


@pytest.mark.parametrize("phase", TaskPhase)
def test_only_a_read_with_a_time_and_without_a_message_waits(phase: TaskPhase) -> None:
    begun = phase in (TaskPhase.WAITING, TaskPhase.STARTED, TaskPhase.DROPPING)
    waiting = Task(1, 1, ReceiveMessages(1, "q", timeout=FOREVER_WAIT), 1, phase=phase)
    assert tasks.waits(waiting) is begun
    assert not tasks.waits(Task(1, 1, ReceiveMessages(1, "q"), 1, phase=phase))
    assert not tasks.waits(Task(1, 1, BrowseMessages(1, "q"), 1, phase=phase))


def test_a_task_knows_until_when_it_may_wait() -> None:
    two = TwoManagers()
    two.open()
    machine = two.here.machines["mqqp"]
    assert isinstance(machine, Mqqp)
    now = Instant(5)
    for timeout, deadline in ((seconds(9), later(now, seconds(9))), (FOREVER_WAIT, None), (seconds(0), now)):
        task = tasks.add(machine.state, two.link, PeekMessage(8, "q", timeout=timeout), 0, now)
        assert task.deadline == deadline
        assert two.here.client.waiting[8] is task
        tasks.cancel(machine.state, two.link, task)
        assert (two.link.tasks, two.here.client.waiting) == ({}, {})
