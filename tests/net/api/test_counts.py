"""Bodies that hold too much are refused before they are decoded, and all others pass."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.net.api import counts
from reliquary.net.api.counts import OBJECTS_LIMIT, VALUES_LIMIT, check_counts
from reliquary.queueing.rules.checks import COUNT_LIMIT


@pytest.mark.parametrize(
    "body",
    [
        b"[" + b"{}," * OBJECTS_LIMIT + b"{}]",
        b'[{"text": "a, {", "label": "\\\\\\"{"},' + b"{}," * OBJECTS_LIMIT + b"{}]",
        b'{"lookup_ids": [' + b'"",' * (VALUES_LIMIT + 1) + b'""]}',
        b"{" * (OBJECTS_LIMIT + 1),
        b"," * (VALUES_LIMIT + 1),
    ],
)
def test_too_much_is_refused(body: bytes) -> None:
    with pytest.raises(UsageError, match="one request has at most"):
        check_counts(body)


@pytest.mark.parametrize(
    "body",
    [
        json.dumps([{"text": "", "httpr": {"a": "b"}}] * COUNT_LIMIT).encode(),
        json.dumps({"text": json.dumps([{"a": 1}] * 300_000)}).encode(),
        json.dumps({"text": "{,\\" * 600_000}).encode(),
        b'{"text": "' + b"{," * 600_000,
        b'{"text": "' + b'{,\\"' * 600_000 + b"\\",
    ],
    ids=[
        "the longest list",
        "a document as a text",
        "escapes",
        "a string without end",
        "an escape at the end",
    ],
)
def test_what_stands_in_a_string_does_not_count(body: bytes) -> None:
    check_counts(body)


@given(
    st.recursive(
        st.text('a{,\\"', max_size=5), lambda inner: st.lists(inner) | st.dictionaries(st.text('{,"'), inner)
    )
)
def test_the_count_is_that_of_the_values(value: object) -> None:
    data = json.dumps(value).encode()
    for size in (1, 2, 7, 1000):
        found = b"".join(counts.outside_strings(data, size))
        assert (found.count(b"{"), found.count(b",")) == _count(value), size


def _count(value: object) -> tuple[int, int]:
    """Return how many objects a value has, and how many commas its JSON has."""
    inner = list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []
    counted = [_count(each) for each in inner]
    objects = sum(each for each, _ in counted) + isinstance(value, dict)
    return objects, sum(each for _, each in counted) + max(len(inner) - 1, 0)
