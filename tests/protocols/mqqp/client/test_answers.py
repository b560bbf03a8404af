"""Statuses of other managers as answers for applications."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.protocols.mqqp.client.answers import as_answer_to, failure, is_hresult, unknown, unreachable
from reliquary.queueing.model.events import Access, Answer, CloseQueue, OpenCursor, Opened, OpenQueue, Request
from reliquary.queueing.travel.failures import Failure
from reliquary.wire.rpc.statuses import FaultStatus

UNUSUAL = [0xC00E0099, 0x80004005, 0x00000001, 0x400E0001, 0xE0000001, 0xFFFFFFFF]


@pytest.mark.spec("QP-052", "QP-076", "QP-160")
@pytest.mark.parametrize("status", [each for each in HResult if each is not HResult.OK])
def test_a_status_that_we_know_is_that_status_with_a_sentence_about_the_server(status: HResult) -> None:
    answer = failure("far", status)
    assert answer == Answer(status, f"far: {status.sentence}")


@pytest.mark.spec("QP-052", "QP-160")
@pytest.mark.mqqp("T33")
@pytest.mark.parametrize("status", UNUSUAL)
def test_any_other_status_is_a_failure_that_names_it(status: int) -> None:
    answer = failure("far", status)
    assert (answer.status, answer.why) == (HResult.ERROR, f"far failed with the status {status:#010x}")


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        (0xC000000D, HResult.INVALID_PARAMETER),
        (0xC0000043, HResult.SHARING_VIOLATION),
        (0x400E03E9, HResult.OPERATION_CANCELLED),
        (FaultStatus.ACCESS_DENIED, HResult.ACCESS_DENIED),
        (FaultStatus.OP_RANGE, HResult.OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER),
        (FaultStatus.CONTEXT_MISMATCH, HResult.INVALID_HANDLE),
        (FaultStatus.SERVER_TOO_BUSY, HResult.INSUFFICIENT_RESOURCES),
    ],
)
def test_foreign_statuses_are_translated(status: int, expected: HResult) -> None:
    assert failure("far", status).status is expected


def test_a_fault_is_a_status_of_the_method_or_of_the_runtime() -> None:
    assert all(map(is_hresult, (0xC00E0007, 0x400E03E9, 0xC000000D)))
    assert not any(is_hresult(each) for each in FaultStatus)


@pytest.mark.parametrize("why", Failure)
def test_a_connection_that_failed_names_server_and_reason(why: Failure) -> None:
    answer = unreachable("far", why, "no route")
    refused = why is Failure.NOT_TRUSTED
    assert answer.status is (HResult.ACCESS_DENIED if refused else HResult.REMOTE_MACHINE_NOT_AVAILABLE)
    assert answer.why == f"far cannot be reached ({why.value}): no route"
    assert unreachable("far", why, "").why == f"far cannot be reached ({why.value})"


def test_an_unknown_outcome_says_so() -> None:
    answer = unknown("far", "purged the queue", "it is gone")
    assert answer == Answer(HResult.OUTCOME_UNKNOWN, "far may have purged the queue or not: it is gone")


@pytest.mark.parametrize("request_", [OpenQueue(1, "q", Access.PEEK), OpenCursor(1, 2), CloseQueue(1, 2)])
def test_a_failure_has_the_form_of_the_answers_to_its_request(request_: Request) -> None:
    given = as_answer_to(request_, Answer(HResult.ERROR, "x"))
    assert isinstance(given, Opened) is not isinstance(request_, CloseQueue)
    assert (given.status, given.why) == (HResult.ERROR, "x")
