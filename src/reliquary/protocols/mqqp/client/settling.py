"""Performs the second half of a receive, 3.2.4.3: the server removes the messages, then they are delivered.

one message after another: RemoteQMEndReceive(ACK)
    MQ_OK          the message is delivered
    a failure      it is still in the queue, and is not delivered
    no response    it is delivered, and remembered (`doubts`); the rundown returns the following ones
"""

from __future__ import annotations

from reliquary.base.hresult import HResult
from reliquary.base.time import Instant
from reliquary.base.turn import SetTimer
from reliquary.protocols.mqqp.client import doubts
from reliquary.protocols.mqqp.client.answers import failure
from reliquary.protocols.mqqp.client.calling import Returned, end_receive, forget_read
from reliquary.protocols.mqqp.client.links import HOLD_TIMER
from reliquary.protocols.mqqp.client.phases import TaskMove, moved_task
from reliquary.protocols.mqqp.client.state import Call, Link, PendingRead, Purpose, Receipt, Task
from reliquary.protocols.mqqp.client.tasks import finish, holds
from reliquary.protocols.mqqp.codec.qm2qm import Acknowledge
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model.events import FOREVER_WAIT, Delivered, LookUpMessage, Received, ReceiveMessages


def conclude(state: State, link: Link, task: Task) -> None:
    """Deliver the messages of a task, after their removal, or locked under a receipt."""
    if holds(task):
        _hold(state, link, task)
    elif task.came:
        task.phase = moved_task(task.phase, TaskMove.GATHERED)
        _settle_next(state, link, task)
    else:
        finish(state, link, task, Received(HResult.OK, messages=tuple(task.done)))


def _hold(state: State, link: Link, task: Task) -> None:
    request = task.request
    assert isinstance(request, ReceiveMessages | LookUpMessage)
    timed = request.hold != FOREVER_WAIT
    held = {message_of(read).position.lookup_id: read for read in task.came}
    receipt = Receipt(task.opens, link.number, link.by, held, timed)
    state.client.receipts[receipt.number] = link.receipts[receipt.number] = receipt
    if timed:
        state.draft.ask(SetTimer((HOLD_TIMER, receipt.number), request.hold))
    messages = tuple(map(message_of, task.came))
    finish(state, link, task, Received(HResult.OK, messages=messages, receipt=receipt.number))


def message_of(read: PendingRead) -> Delivered:
    """Return the message of a read that has one."""
    assert read.delivered is not None, f"read {read.request} has no message"
    return read.delivered


def _settle_next(state: State, link: Link, task: Task) -> None:
    if task.came:
        end_receive(state, link, Purpose.SETTLE, task.came[0], Acknowledge.ACK, task=task.number)  # QP-152
    else:
        _answer(state, link, task)


def _answer(state: State, link: Link, task: Task) -> None:
    """Deliver the messages that the server has removed; without any, answer with the reason."""
    if task.done:
        state.client.taken += len(task.done)
        finish(state, link, task, Received(HResult.OK, messages=tuple(task.done)))
    else:
        assert task.failure is not None, f"task {task.number} has neither messages nor a failure"
        finish(state, link, task, task.failure)


def on_settled(state: State, link: Link, call: Call, returned: Returned, now: Instant) -> None:
    """Process the removal of a message, which the server may have refused."""
    del now
    task = link.tasks[call.task]
    read = task.came.pop(0)
    forget_read(state, link, read.request)
    if returned.status == HResult.OK:
        task.done.append(message_of(read))
    else:
        task.failure = failure(link.server, returned.status)  # QP-076
    _settle_next(state, link, task)


def lost(state: State, link: Link, task: Task, now: Instant) -> None:
    """Deliver the message whose removal has no response, and remember that it may still be in its queue."""
    message = message_of(task.came[0])
    doubts.keep(state, link, message.message, now)  # F-06
    task.done.append(message)
    _answer(state, link, task)
