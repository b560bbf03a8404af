"""The status codes of [MS-MQDMPR], with the values that are printed there."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult

PRINTED = {
    "OK": 0x00000000,
    "ERROR": 0xC00E0001,
    "PROPERTY": 0xC00E0002,
    "QUEUE_NOT_FOUND": 0xC00E0003,
    "QUEUE_EXISTS": 0xC00E0005,
    "INVALID_PARAMETER": 0xC00E0006,
    "INVALID_HANDLE": 0xC00E0007,
    "OPERATION_CANCELLED": 0xC00E0008,
    "SHARING_VIOLATION": 0xC00E0009,
    "SERVICE_NOT_AVAILABLE": 0xC00E000B,
    "NO_DS": 0xC00E0013,
    "ILLEGAL_QUEUE_PATHNAME": 0xC00E0014,
    "IO_TIMEOUT": 0xC00E001B,
    "ILLEGAL_CURSOR_ACTION": 0xC00E001C,
    "MESSAGE_ALREADY_RECEIVED": 0xC00E001D,
    "ILLEGAL_FORMATNAME": 0xC00E001E,
    "UNSUPPORTED_FORMATNAME_OPERATION": 0xC00E0020,
    "ILLEGAL_SECURITY_DESCRIPTOR": 0xC00E0021,
    "ACCESS_DENIED": 0xC00E0025,
    "INSUFFICIENT_RESOURCES": 0xC00E0027,
    "DS_ERROR": 0xC00E0043,
    "UNSUPPORTED_ACCESS_MODE": 0xC00E0045,
    "QUEUE_NOT_AVAILABLE": 0xC00E004B,
    "TRANSACTION_USAGE": 0xC00E0050,
    "TRANSACTION_SEQUENCE": 0xC00E0051,
    "REMOTE_MACHINE_NOT_AVAILABLE": 0xC00E0069,
    "MESSAGE_NOT_FOUND": 0xC00E0088,
    "OPERATION_NOT_SUPPORTED_BY_REMOTE_COMPUTER": 0xC00E008B,
    "OBJECT_NOT_FOUND": 0xC00E050F,
    "OBJECT_EXISTS": 0x80071392,
    "STATUS_NOT_FOUND": 0xC0000225,
}
OWN = ["DATA_LOST", "OTHER_QUEUE", "WRITER_TAKEN", "STAGE_GONE", "BATCH_TOO_LARGE", "OUTCOME_UNKNOWN"]


def test_the_values_are_those_of_the_specification() -> None:
    values = {name: member.value for name, member in HResult.__members__.items() if name not in OWN}
    assert values == PRINTED


@pytest.mark.parametrize("status", HResult)
def test_each_status_has_one_sentence_for_users(status: HResult) -> None:
    sentence = status.sentence
    assert sentence == sentence.strip()
    assert sentence
    assert not sentence.endswith(".")


def test_each_status_has_a_different_sentence() -> None:
    assert len({status.sentence for status in HResult}) == len(HResult)


def test_only_ok_is_a_success() -> None:
    assert [status for status in HResult if not status >> 31] == [HResult.OK]


@pytest.mark.spec("DM-007")
def test_only_the_codes_of_this_project_have_the_customer_bit() -> None:
    assert [status.name for status in HResult if status & 0x20000000] == OWN
