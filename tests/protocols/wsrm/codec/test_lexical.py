"""Numbers, durations and QNames are read as XML Schema has them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.time import DAY, HOUR, MINUTE, SECOND, Duration
from reliquary.protocols.wsrm.codec.lexical import (
    LARGEST_NUMBER,
    LONGEST_DURATION,
    boolean,
    buffer,
    duration,
    duration_text,
    number,
    resolved,
)
from reliquary.protocols.wsrm.codec.values import LARGEST_BUFFER, NO_BUFFER

BUFFERS = {
    "0": 0, " 0 ": 0, "\n1\n": 1, "+5": 5, "007": 7, "-0": 0, "2147483647": 2147483647,
    "-1": -1, "2147483648": -1, "": -1, "1.0": -1, "1 0": -1, "0x10": -1, "1_0": -1, "١": -1,
    "9" * 5000: -1, "+": -1, "--1": -1,
}  # fmt: skip
"""Texts of BufferRemaining and what each means; -1 is no value."""


@pytest.mark.spec("FC-008", "FC-039")
@pytest.mark.parametrize(("text", "value"), BUFFERS.items(), ids=[text[:12] for text in BUFFERS])
def test_a_buffer_is_a_value_or_absent(text: str, value: int) -> None:
    assert buffer(text) == value


@pytest.mark.spec("FC-008")
@given(st.integers(-(2**33), 2**33))
def test_any_number_that_is_no_buffer_is_absent(value: int) -> None:
    assert buffer(str(value)) == (value if 0 <= value <= LARGEST_BUFFER else NO_BUFFER)


def test_no_text_is_no_buffer() -> None:
    assert buffer(None) == NO_BUFFER


@pytest.mark.parametrize(
    ("text", "span"),
    [
        ("PT00H00M30S", 30 * SECOND),
        ("PT0S", 0),
        ("P1Y2M3DT4H5M6S", 365 * DAY + 60 * DAY + 3 * DAY + 4 * HOUR + 5 * MINUTE + 6 * SECOND),
        (" P1D\n", DAY),
        ("PT0.0000015S", 1),
        ("PT1.25S", SECOND + SECOND // 4),
        ("P999999999Y", LONGEST_DURATION),
    ],
)
def test_a_duration_is_read(text: str, span: int) -> None:
    assert duration(text) == span


@pytest.mark.parametrize(
    "text",
    ["", "P", "PT", "P1DT", "-PT1S", "30", "PT1", "P1S", "PT1H1H", "PT.5S", "PT١S", "P" + "9" * 5000 + "D"],
)
def test_other_text_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="no duration"):
        duration(text)


@given(st.integers(0, LONGEST_DURATION).map(Duration))
def test_a_duration_is_read_back(span: Duration) -> None:
    assert duration(duration_text(span)) == span


@given(st.integers(0, LARGEST_NUMBER))
def test_a_number_is_read_back(value: int) -> None:
    assert number(f" {value}\n") == value


@pytest.mark.parametrize("text", ["", "-1", "1.0", "1_0", "١", str(LARGEST_NUMBER + 1), "9" * 5000, "one"])
def test_other_text_is_no_number(text: str) -> None:
    with pytest.raises(ValueError, match="no number"):
        number(text)


def test_booleans_have_four_spellings() -> None:
    assert [boolean(text) for text in ("true", " 1 ", "false", "0")] == [True, True, False, False]
    with pytest.raises(ValueError, match="neither"):
        boolean("yes")


@pytest.mark.parametrize(
    ("text", "name"),
    [("a:x", ("urn:a", "x")), (" x ", ("urn:d", "x")), ("b:x", ("", "x")), ("", ("urn:d", ""))],
)
def test_a_qname_is_resolved_where_its_prefix_is_known(text: str, name: tuple[str, str]) -> None:
    assert resolved(text, {"a": "urn:a", None: "urn:d"}) == name
