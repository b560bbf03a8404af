"""Tests that each record of a list is on one page."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.views.pages import LARGEST_PAGE, PAGE, Page, PageWanted, as_json, cut, wanted_page


@given(st.integers(0, 40), st.integers(1, 12))
def test_all_pages_together_are_the_list(count: int, limit: int) -> None:
    found: list[int] = []
    after = ""
    while True:
        page = cut(range(count), PageWanted(after, limit))
        assert len(page.records) <= limit
        found += page.records
        if not page.next:
            break
        after = page.next
    assert found == list(range(count))


def test_a_query_asks_for_a_page() -> None:
    assert wanted_page(None, None) == PageWanted("", PAGE)
    assert wanted_page("x", "7") == PageWanted("x", 7)


@pytest.mark.parametrize("limit", ["0", "-1", "x", "", str(LARGEST_PAGE + 1), "9" * 50, "²"])
def test_an_impossible_limit_is_refused(limit: str) -> None:
    with pytest.raises(UsageError, match="limit is"):
        wanted_page(None, limit)


@pytest.mark.parametrize("after", ["x", "-1", "9" * 50, "²"])
def test_a_place_that_no_page_gave_is_refused(after: str) -> None:
    with pytest.raises(UsageError, match="after is what the page before it gave as next"):
        cut([1, 2, 3], PageWanted(after))


def test_the_last_page_names_no_next_one() -> None:
    assert as_json("queues", Page([1], "1")) == {"queues": [1], "next": "1"}
    assert as_json("queues", Page([1])) == {"queues": [1]}
