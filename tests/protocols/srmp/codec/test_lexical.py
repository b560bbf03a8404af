"""Tests numbers, GUIDs, dates and identifiers, both ways."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.lexical import (
    LAST_MOMENT,
    correlation,
    correlation_text,
    guid,
    message_id,
    message_id_text,
    moment,
    moment_text,
    number,
    stream_id,
    stream_id_text,
)
from reliquary.queueing.model.message import FOREVER, NO_OBJECT, ObjectId
from tests.protocols.srmp.codec.vector import ALPHA

_objects = st.builds(ObjectId, st.uuids(), st.integers(0, FOREVER))


@pytest.mark.spec("SR-016")
@given(st.integers(0, LAST_MOMENT))
def test_a_moment_goes_both_ways(value: int) -> None:
    assert moment(moment_text(value), "sentAt", "2.2.5.1.2") == value


@pytest.mark.spec("SR-035", "SR-275")
@given(_objects)
def test_an_identifier_goes_both_ways(value: ObjectId) -> None:
    assert message_id(message_id_text(value)) == value


@pytest.mark.spec("SR-095")
@given(_objects)
def test_a_correlation_goes_both_ways(value: ObjectId) -> None:
    assert len(correlation_text(value)) == 28
    assert correlation(correlation_text(value)) == value


@pytest.mark.spec("SR-071", "SR-279")
@given(st.uuids(), st.integers(0, 2**64 - 1))
def test_a_stream_goes_both_ways(sender: UUID, value: int) -> None:
    assert stream_id(stream_id_text(sender, value), "2.2.5.3.1") == (sender, value)


@pytest.mark.srmp("T-09")
@pytest.mark.spec("SR-095")
def test_a_correlation_is_28_characters_with_the_guid_little_endian() -> None:
    assert correlation_text(ObjectId(ALPHA, 41)) == "bgwfWwo9Hkyadw4vbI1LECkAAAA="
    assert correlation_text(NO_OBJECT) == "A" * 27 + "="
    assert correlation("bgwfWwo9 Hkyadw4v\r\nbI1LECkAAAA=") == ObjectId(ALPHA, 41)


@pytest.mark.srmp("T-10")
@pytest.mark.spec("SR-072")
def test_the_published_stream_number_is_time_and_ordinal() -> None:
    _, value = stream_id("uid:2744e4e1-2b48-43e8-b441-42745f280d53\\4839986701558349830", "2.2.5.3.1")
    assert (value >> 32, value & FOREVER) == (0x432B1643, 6)


@pytest.mark.spec("SR-015")
def test_a_guid_is_read_in_any_case_and_written_in_lower_case() -> None:
    assert guid(f" {str(ALPHA).upper()}\r\n", "SourceQmGuid", "2.2.6.13") == ALPHA
    assert message_id_text(ObjectId(ALPHA, 1)) == f"uuid:1@{ALPHA}"


def test_a_number_may_have_white_space_around_it_and_zeros_before_it() -> None:
    assert number("\r\n 007\t", "Class", "2.2.6.1") == 7
    assert number(str(2**64 - 1), "current", "2.2.5.3.2") == 2**64 - 1


@pytest.mark.parametrize("text", ["", " ", "-1", "+1", "0x1", "1e3", "1 2", str(2**64), "1" * 5000, "٣"])
def test_what_is_no_number_is_refused(text: str) -> None:
    with pytest.raises(SrmpFault, match="current"):
        number(text, "current", "2.2.5.3.2")


def test_a_moment_that_no_date_can_say_is_the_callers_mistake() -> None:
    with pytest.raises(UsageError):
        moment_text(LAST_MOMENT + 1)
    with pytest.raises(UsageError):
        moment_text(-1)
