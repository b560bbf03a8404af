"""Tests which parts of W3C Trace Context are taken, which are dropped, and that nothing changes on
the way."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.wire.trace_context import STATE_LIMIT, joined, read, split

PARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


@pytest.mark.parametrize(
    "parent",
    [
        "",
        PARENT[:-1],
        PARENT + "0",
        PARENT + "-00",
        PARENT.upper(),
        "ff" + PARENT[2:],
        f"00-{'0' * 32}-b7ad6b7169203331-01",
        f"00-0af7651916cd43dd8448eb211c80319c-{'0' * 16}-01",
        "cc" + PARENT[2:] + "x",
        PARENT.replace("-", "_"),
    ],
)
def test_a_malformed_traceparent_is_dropped_with_its_state(parent: str) -> None:
    assert joined(parent, "a=1") == ""


def test_the_known_fields_of_a_later_version_are_taken() -> None:
    assert joined("cc" + PARENT[2:] + "-more") == joined("cc" + PARENT[2:]) == PARENT


@pytest.mark.parametrize("state", ["", " ", "a=1\x01", "a=é", "a" * (STATE_LIMIT + 1)])
def test_a_malformed_state_is_dropped_alone(state: str) -> None:
    assert joined(PARENT, state) == PARENT


@given(st.text(st.characters(min_codepoint=0x21, max_codepoint=0x7E), max_size=STATE_LIMIT))
def test_a_context_comes_back_as_it_was(state: str) -> None:
    context = joined(PARENT, state)
    assert split(context) == (PARENT, state)
    assert read(context) == context


@given(st.text())
def test_what_a_peer_writes_is_a_context_or_nothing(text: str) -> None:
    assert read(text) in ("", text.strip())
