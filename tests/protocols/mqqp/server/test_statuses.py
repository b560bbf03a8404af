"""Each answer of the queue manager has a status on the wire."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.protocols.mqqp.server.statuses import STATUSES, Status

SEVERITY = 0x8000_0000


def test_each_answer_of_the_queue_manager_has_a_status() -> None:
    assert set(STATUSES) == set(HResult)
    assert all(0 <= status <= 0xFFFF_FFFF for status in STATUSES.values())


@pytest.mark.spec("QP-009", "QP-010", "QP-051", "QP-160")
def test_success_is_zero_and_every_failure_has_the_severity_bit() -> None:
    assert STATUSES[HResult.OK] == 0
    failures = [status for answer, status in STATUSES.items() if answer is not HResult.OK]
    assert all(status & SEVERITY for status in failures)
    own = [status for status in failures if status & 0x2000_0000]
    assert own == [status for status in failures if status >> 16 == 0xE00E]


def test_only_a_violation_of_sharing_has_another_code_than_the_queue_manager_gives_it() -> None:
    changed = {answer for answer, status in STATUSES.items() if status != int(answer)}
    assert changed == {HResult.SHARING_VIOLATION}
    assert STATUSES[HResult.SHARING_VIOLATION] == 0xC0000043


def test_a_cancel_by_the_client_is_no_failure_and_no_success() -> None:
    assert [f"{each:#x}" for each in Status if not each & SEVERITY] == ["0x400e03e9"]
    assert {int(each) for each in Status} == {0x400E03E9, 0xC00E0001, 0xC000000D, 0xC0000043}
