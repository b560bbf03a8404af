"""Warnings: each thing once a minute, and none of its happenings is left out of the count."""

from __future__ import annotations

import pytest

from reliquary.base.time import MINUTE, SECOND
from reliquary.base.turn import Warn
from reliquary.engine.warnings import KEPT, Warnings


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    lines = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return lines


def test_a_warning_is_logged_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    Warnings().tell(Warn("orders", "copies not kept (journal)", "it is full", 3), 0)
    assert said(caplog) == ["orders: copies not kept (journal) 3 times: it is full"]
    assert not caplog.records


def test_the_same_is_said_once_a_minute_with_all_that_was_not_said(caplog: pytest.LogCaptureFixture) -> None:
    warnings = Warnings()
    for moment in range(0, 2 * MINUTE + 1, 10 * SECOND):
        warnings.tell(Warn("orders", "lost", "full"), moment)
    assert said(caplog) == [
        "orders: lost 1 times: full",
        "orders: lost 6 times: full",
        "orders: lost 6 times: full",
    ]


def test_other_things_are_said_at_once(caplog: pytest.LogCaptureFixture) -> None:
    warnings = Warnings()
    for about, what in (("a", "x"), ("a", "y"), ("b", "x"), ("a", "x")):
        warnings.tell(Warn(about, what, "why"), 0)
    assert len(said(caplog)) == 3


def test_what_was_said_long_ago_is_forgotten(caplog: pytest.LogCaptureFixture) -> None:
    warnings = Warnings()
    for number in range(KEPT):
        warnings.tell(Warn(str(number), "x", "why"), 0)
    warnings.tell(Warn("one more", "x", "why"), MINUTE)
    assert len(warnings._told) == 1
    assert len(said(caplog)) == KEPT + 1
