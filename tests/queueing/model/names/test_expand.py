"""Distribution lists are replaced by the queues in them."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.queueing.model.names.expand import EXPANDED_LIMIT, expand
from reliquary.queueing.model.names.formats import IllegalFormatName, parse_format

ONE, TWO, THREE = (UUID(int=number) for number in (1, 2, 3))
A, B, C = (f"DIRECT=OS:{host}\\q" for host in "ABC")


def expanded(name: str, lists: dict[UUID, tuple[str, ...]] | None = None) -> str | None:
    found = expand(parse_format(name), (lists or {}).get)
    return None if found is None else str(found)


@pytest.mark.spec("DM-318")
def test_a_name_of_one_queue_stays_as_it_is() -> None:
    assert expanded(A.lower()) == "DIRECT=OS:a\\q"


@pytest.mark.spec("DM-319", "DM-320")
def test_a_list_becomes_its_members_and_theirs() -> None:
    lists = {ONE: (B, A, A.lower(), f"DL={TWO}"), TWO: (f"{C},{B.lower()}",)}
    assert expanded(f"DL={ONE}", lists) == f"{A},{B},{C}"


@pytest.mark.spec("DM-319")
def test_a_list_that_is_not_known_fails_the_whole_name() -> None:
    assert expanded(f"{A},DL={ONE}") is None
    assert expanded(f"DL={ONE}", {ONE: (f"DL={TWO}",)}) is None


@pytest.mark.spec("DM-320", "DM-321")
def test_names_that_differ_in_case_alone_are_one() -> None:
    assert expanded(f"{B},{A},{A.lower()}") == f"{A},{B}"
    assert expanded(f"{A},{A.lower()}") == A


@pytest.mark.spec("DM-319")
def test_lists_that_contain_each_other_end() -> None:
    lists = {ONE: (A, f"DL={TWO}"), TWO: (f"DL={ONE}", f"DL={TWO}", B)}
    assert expanded(f"DL={ONE}", lists) == f"{A},{B}"


def test_a_list_without_members_is_no_destination() -> None:
    assert expanded(f"DL={ONE}", {ONE: ()}) is None


def test_a_list_that_is_too_long_is_refused() -> None:
    members = tuple(f"DIRECT=OS:h{number}\\q" for number in range(EXPANDED_LIMIT + 1))
    with pytest.raises(IllegalFormatName, match="at most"):
        expanded(f"DL={ONE}", {ONE: members})
