"""Tests a short log: each cause once a minute, every repeat counted, and bounded memory."""

from __future__ import annotations

from reliquary.base.time import MINUTE, SECOND
from reliquary.engine.throttle import CAUSES, KEPT, LONGEST, MANY, OTHERS, Due, Throttle


def test_each_cause_is_reported_and_a_repetition_waits() -> None:
    throttle = Throttle()
    for why in ("a", "b", "c"):
        assert throttle.add("peer", "refused", why, 1, 0) == [Due("peer", "refused", why, 1)]
    assert not throttle.waiting
    assert throttle.add("peer", "refused", "b", 2, SECOND) == []
    assert [throttle.waiting] == [True]
    assert throttle.add("peer", "refused", "b", 1, MINUTE) == [Due("peer", "refused", "b", 3)]
    assert not throttle.waiting


def test_what_happened_again_is_reported_a_minute_later_even_if_it_does_not_happen_any_more() -> None:
    throttle = Throttle()
    throttle.add("peer", "refused", "a", 1, 0)
    throttle.add("peer", "refused", "a", 4, SECOND)
    assert throttle.overdue(MINUTE - 1) == []
    assert throttle.overdue(MINUTE) == [Due("peer", "refused", "a", 4)]
    assert throttle.overdue(2 * MINUTE) == []
    assert not throttle._logged
    assert not throttle._causes


def test_an_entry_also_reports_the_repeats_of_another() -> None:
    throttle = Throttle()
    throttle.add("peer", "refused", "a", 1, 0)
    throttle.add("peer", "refused", "a", 1, 1)
    logged = throttle.add("other", "lost", "x", 1, MINUTE)
    assert logged == [Due("other", "lost", "x", 1), Due("peer", "refused", "a", 1)]
    assert throttle.add("peer", "refused", "a", 1, MINUTE + 1) == []


def test_made_up_causes_are_counted_together_and_hide_no_other_kind() -> None:
    throttle = Throttle()
    logged = [
        due for number in range(1000) for due in throttle.add("peer", "refused", str(number), 1, number)
    ]
    assert [each.why for each in logged] == [*map(str, range(CAUSES)), OTHERS]
    assert throttle.add("peer", "refused", "7", 1, 1000) == []
    assert throttle.add("peer", "cut off", "7", 1, 1000) == [Due("peer", "cut off", "7", 1)]
    later = throttle.overdue(2 * MINUTE)
    assert later == [Due("peer", "refused", "7", 1), Due("peer", "refused", OTHERS, 1000 - CAUSES - 1)]


def test_causes_beyond_the_limit_share_one_entry() -> None:
    throttle = Throttle()
    logged = [due for number in range(KEPT + 500) for due in throttle.add(str(number), "x", "y", 1, 0)]
    assert len(throttle._logged) == KEPT + 1
    assert logged[-1] == Due(*MANY, 1)
    assert len(logged) == KEPT + 1
    assert throttle.overdue(MINUTE) == [Due(*MANY, 499)]


def test_a_cause_that_is_long_is_cut() -> None:
    [logged] = Throttle().add("peer", "refused", "x" * 10**6, 1, 0)
    assert len(logged.why) == LONGEST
