"""Tests warnings: each kind once a minute, and every repeat is counted."""

from __future__ import annotations

import pytest

from reliquary.base.time import MINUTE, SECOND
from reliquary.base.turn import Warn
from reliquary.engine.warnings import Warnings


def said(caplog: pytest.LogCaptureFixture) -> list[str]:
    lines = [record.getMessage() for record in caplog.records]
    caplog.clear()
    return lines


def test_a_warning_is_logged_with_its_reason(caplog: pytest.LogCaptureFixture) -> None:
    Warnings().report(Warn("orders", "copies not kept (journal)", "it is full", 3), 0)
    assert said(caplog) == ["orders: copies not kept (journal) 3 times: it is full"]
    assert not caplog.records


def test_a_warning_is_repeated_once_a_minute_with_its_count(
    caplog: pytest.LogCaptureFixture,
) -> None:
    warnings = Warnings()
    for moment in range(0, 2 * MINUTE + 1, 10 * SECOND):
        warnings.report(Warn("orders", "lost", "full"), moment)
    assert said(caplog) == [
        "orders: lost 1 times: full",
        "orders: lost 6 times: full",
        "orders: lost 6 times: full",
    ]


def test_another_warning_is_logged_at_once(caplog: pytest.LogCaptureFixture) -> None:
    warnings = Warnings()
    for about, what in (("a", "x"), ("a", "y"), ("b", "x"), ("a", "x")):
        warnings.report(Warn(about, what, "why"), 0)
    assert len(said(caplog)) == 3


def test_another_cause_is_logged_at_once_too(caplog: pytest.LogCaptureFixture) -> None:
    warnings = Warnings()
    for why in ("no queue a", "no queue b", "no queue a", "not XML"):
        warnings.report(Warn("SRMP from 10.0.0.1", "refused with 400", why), 0)
    assert said(caplog) == [
        f"SRMP from 10.0.0.1: refused with 400 1 times: {why}"
        for why in ("no queue a", "no queue b", "not XML")
    ]


def test_repeats_are_logged_later_or_at_the_end(caplog: pytest.LogCaptureFixture) -> None:
    warnings = Warnings()
    for _ in range(3):
        warnings.report(Warn("orders", "lost", "full"), 0)
    assert warnings.waiting
    warnings.remind(SECOND)
    assert said(caplog) == ["orders: lost 1 times: full"]
    warnings.remind(MINUTE)
    assert said(caplog) == ["orders: lost 2 times: full"]
    warnings.report(Warn("orders", "lost", "full"), MINUTE + 1)
    warnings.report_all(MINUTE + 1)
    assert said(caplog) == ["orders: lost 1 times: full"]
    assert not warnings.waiting
