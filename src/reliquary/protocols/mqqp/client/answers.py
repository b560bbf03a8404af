"""Answers applications: it translates the status of another manager, and adds a sentence."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reliquary.base.hresult import HResult
from reliquary.base.turn import Reply
from reliquary.protocols.mqqp.client.state import Ending, Link, Task
from reliquary.protocols.mqqp.state import State
from reliquary.queueing.model import events
from reliquary.queueing.model.events import Answer, Opened, Request
from reliquary.queueing.travel.failures import Failure
from reliquary.queueing.travel.remote import RemoteReadsEnded
from reliquary.wire.rpc.statuses import FaultStatus

_TRANSLATED: Final[Mapping[int, HResult]] = {
    0xC000000D: HResult.INVALID_PARAMETER,  # STATUS_INVALID_PARAMETER
    0xC0000043: HResult.SHARING_VIOLATION,  # STATUS_SHARING_VIOLATION, [MS-MQMP] 3.1.4.2
    0x400E03E9: HResult.OPERATION_CANCELLED,  # MQ_INFORMATION_REMOTE_CANCELED_BY_CLIENT, F-10
    FaultStatus.ACCESS_DENIED: HResult.ACCESS_DENIED,
    FaultStatus.SECURITY_ERROR: HResult.ACCESS_DENIED,
    FaultStatus.CANCELLED: HResult.OPERATION_CANCELLED,
    FaultStatus.CONTEXT_MISMATCH: HResult.INVALID_HANDLE,
    FaultStatus.OP_RANGE: HResult.OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER,
    FaultStatus.UNKNOWN_INTERFACE: HResult.OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER,
    FaultStatus.SERVER_TOO_BUSY: HResult.INSUFFICIENT_RESOURCES,
}
_KNOWN: Final[Mapping[int, HResult]] = {each.value: each for each in HResult if each is not HResult.OK}


def failure(server: str, status: int) -> Answer:
    """Return the answer for any status except MQ_OK, returned or raised as a fault (QP-052, QP-160, F-05)."""
    known = _KNOWN.get(status) or _TRANSLATED.get(status)
    if known is None:
        return Answer(HResult.ERROR, f"{server} failed with the status {status:#010x}")
    return Answer(known, f"{server}: {known.sentence}")


def is_hresult(status: int) -> bool:
    """Return whether a method raised the status of a fault; if not, the RPC runtime raised it (F-05)."""
    return status >> 16 in (0xC00E, 0x400E, 0xC000)


def unreachable(server: str, why: Failure, detail: str) -> Answer:
    """Return the answer for a connection that broke, or could not be made."""
    status = HResult.ACCESS_DENIED if why is Failure.NOT_TRUSTED else HResult.REMOTE_MACHINE_NOT_AVAILABLE
    return Answer(status, f"{server} cannot be reached ({why.value}){': ' if detail else ''}{detail}")


def unknown(server: str, what: str, why: str) -> Answer:
    """Return the answer for a change if no response shows whether the server made it."""
    return Answer(HResult.OUTCOME_UNKNOWN, f"{server} may have {what} or not: {why}")


def as_answer_to(request: Request, given: Answer) -> Answer:
    """Return a failure in the form that a request's answers have."""
    if isinstance(request, (events.OpenQueue, events.OpenCursor)):
        return Opened(given.status, given.why)
    return given


def await_answer(state: State, to: int, waits_for: Link | Task | Ending) -> None:
    """Record the object that a caller waits for; caller 0 wants no answer."""
    if to:
        state.client.waiting[to] = waits_for


def reply(state: State, to: int, answer: Answer) -> None:
    """Answer a caller; caller 0 has disconnected, or needs no answer."""
    if to:
        state.client.waiting.pop(to, None)
        state.draft.ask(Reply(to, answer))


def refuse(state: State, request: Request, number: int, given: Answer) -> None:
    """Answer a request that is not sent to the server, and release the number that it reserved."""
    end_numbers(state, number)
    reply(state, getattr(request, "to", 0), as_answer_to(request, given))


def end_numbers(state: State, *numbers: int) -> None:
    """Make the manager forget these handles, cursors and receipts; 0 stands for none."""
    ended = tuple(number for number in numbers if number)
    if ended:
        state.draft.signal(RemoteReadsEnded(ended))
