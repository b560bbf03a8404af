"""Tests plans: within the bounds, nothing twice, nothing left out, parts of about equal size."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from reliquary.net.feed.cutting import ROW, Admission, PlanOut, RowGroup

sizes = st.lists(st.integers(0, 5000), max_size=60)


def admit(given: list[int], rows: int | None, size: int | None, page: int) -> tuple[Admission, list[int]]:
    """Take places whose numbers are 10, 20, 30 ..., a page at a time."""
    numbers = [10 * (place + 1) for place in range(len(given))]
    admission = Admission(rows, size)
    for first in range(0, len(given), page):
        admission.take(numbers[first : first + page], given[first : first + page])
    return admission, numbers


@given(
    sizes,
    st.one_of(st.none(), st.integers(1, 80)),
    st.one_of(st.none(), st.integers(1, 60_000)),
    st.integers(1, 70),
    st.integers(1, 9),
)
def test_a_plan_covers_what_it_admits_once(
    given: list[int], rows: int | None, size: int | None, page: int, parts: int
) -> None:
    admission, numbers = admit(given, rows, size, page)
    until = 10 * len(given) + 7
    plan = admission.plan(3, until, parts)
    fit = 0
    while fit < len(given) and (
        fit == 0 or ((rows is None or fit < rows) and (size is None or sum(given[: fit + 1]) <= size))
    ):
        fit += 1
    assert (plan.rows, plan.bytes) == (fit, sum(given[:fit]))
    assert int(plan.until) == (until if fit == len(given) else numbers[fit - 1])
    assert len(plan.parts) <= parts
    at = 3
    for part in plan.parts:
        assert int(part.after) == at
        inside = [place for place in range(fit) if at < numbers[place] <= int(part.until)]
        assert (part.rows, part.bytes) == (len(inside), sum(given[place] for place in inside))
        assert inside
        at = int(part.until)
    assert not plan.parts or at == int(plan.until)


@given(sizes.filter(bool), st.integers(1, 9))
@example([0, 0, 0], 6)
def test_no_part_is_much_larger_than_its_share(given: list[int], parts: int) -> None:
    admission, _ = admit(given, None, None, 100)
    plan = admission.plan(0, 10**6, parts)
    weights = [size + ROW for size in given]
    for part in plan.parts:
        assert part.bytes + ROW * part.rows <= sum(weights) / parts + max(weights)


def test_an_empty_range_has_a_plan() -> None:
    assert Admission(5, None).plan(3, 9, 4) == PlanOut("9", 0, 0, ())


def test_what_was_not_counted_is_cut_by_its_weight() -> None:
    admission, _ = admit([100, 100], None, None, 2)
    admission.estimate([RowGroup(1000, 50, 5000), RowGroup(2000, 50, 5000), RowGroup(3000, 100, 10_000)])
    plan = admission.plan(0, 3500, 2)
    assert [(part.after, part.until) for part in plan.parts] == [("0", "2000"), ("2000", "3500")]
    assert (plan.rows, plan.bytes) == (202, 20_200)
