"""Manages tasks: each is a request of an application from its beginning to its answer.

add      the link is open: the server is asked at once; else when it is open
finish   the application is answered, and the link may be idle
cancel   the request is answered, and a message that comes later is returned
"""

from __future__ import annotations

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant, later
from reliquary.base.turn import SetTimer
from reliquary.protocols.mqqp.client.answers import as_answer_to, await_answer, end_numbers, reply
from reliquary.protocols.mqqp.client.calling import TIMER, call, give_back
from reliquary.protocols.mqqp.client.links import release
from reliquary.protocols.mqqp.client.phases import TaskMove, TaskPhase, moved_task
from reliquary.protocols.mqqp.client.state import Link, Purpose, Task
from reliquary.protocols.mqqp.codec.qm2qm import CancelReceive
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    Answer,
    BrowseMessages,
    LookUpMessage,
    PeekMessage,
    ReceiveMessages,
    Request,
)


def add(state: State, link: Link, request: Request, opens: int, now: Instant) -> Task:
    """Begin a task on a link; it waits until it is started."""
    to: int = getattr(request, "to", 0)
    task = Task(state.client.next_number(), link.number, request, to, opens)
    if isinstance(request, ReceiveMessages | PeekMessage) and request.timeout != FOREVER_WAIT:
        task.deadline = later(now, request.timeout)
    link.tasks[task.number] = task
    await_answer(state, to, task)
    return task


def receives(task: Task) -> bool:
    """Return whether its messages leave the queue or are locked there."""
    request = task.request
    return isinstance(request, ReceiveMessages) or (isinstance(request, LookUpMessage) and not request.peek)


def holds(task: Task) -> bool:
    """Return whether its messages are only locked."""
    request = task.request
    return receives(task) and isinstance(request, ReceiveMessages | LookUpMessage) and bool(request.hold)


def is_read(task: Task) -> bool:
    """Return whether it asks for messages."""
    return isinstance(task.request, ReceiveMessages | PeekMessage | LookUpMessage | BrowseMessages)


def is_open(task: Task) -> bool:
    """Return whether it sends a request to the server, now or later."""
    return task.phase in (TaskPhase.WAITING, TaskPhase.STARTED, TaskPhase.DROPPING)


def waits(task: Task) -> bool:
    """Return whether it may wait for a message to arrive, and has none yet."""
    request = task.request
    return is_open(task) and isinstance(request, ReceiveMessages | PeekMessage) and bool(request.timeout)


def finish(state: State, link: Link, task: Task, answer: Answer) -> None:
    """Answer the application, and end the task."""
    task.phase = moved_task(task.phase, TaskMove.FINISHED)
    del link.tasks[task.number]
    if answer.status is not HResult.OK:
        end_numbers(state, task.opens)
        answer = as_answer_to(task.request, answer)
    elif is_read(task) and not holds(task):
        end_numbers(state, task.opens)  # a peek under a receipt
    reply(state, task.to, answer)
    release(state, link)


def cancel(state: State, link: Link, task: Task) -> None:
    """Cancel a read: its application is answered, and messages that came are returned where possible.

    Messages that the server is removing are delivered nevertheless; other requests are answered at their end.
    """
    if not is_read(task):
        return
    if task.phase is TaskPhase.STARTED and waits(task) and not task.came:
        _cancel_read(state, link, task)
    going = 1 if task.phase is TaskPhase.SETTLING else 0
    for read in task.came[going:]:
        give_back(state, link, read)
    task.came = task.came[:going]
    task.phase = moved_task(task.phase, TaskMove.GONE)
    if task.phase is not TaskPhase.SETTLING:
        _say_cancelled(state, task)
    if task.phase is TaskPhase.DONE:
        del link.tasks[task.number]
        release(state, link)


def _say_cancelled(state: State, task: Task) -> None:
    status = HResult.OPERATION_CANCELLED
    reply(state, task.to, Answer(status, status.sentence))
    end_numbers(state, task.opens)
    task.to = task.opens = 0


def _cancel_read(state: State, link: Link, task: Task) -> None:
    """Ask the server to end a waiting read (QP-042, QP-103, QP-155); its response comes soon after."""
    call(state, link, Purpose.CANCEL, CancelReceive(link.remote.queue, link.remote.queue_again, task.read))
    state.draft.ask(SetTimer((TIMER, task.call), state.client.settings.call_time))
