"""Tests the report of a run."""

from __future__ import annotations

from reliquary.sim.history import History, Violation
from reliquary.sim.reports import Report, failure_of


def history(lines: str, processes: int) -> History:
    found = History(processes=processes)
    for line in lines:
        found.note(0, line)
    return found


def test_a_report_adds_up_what_all_hosts_did() -> None:
    report = Report.of(7, 100, [history("a", 2), history("b", 3)], "", "")
    assert report.processes == 5
    assert str(report).startswith("seed 7: 0 turns, 0 sent, 0 received, 5 processes")
    assert str(report).endswith(": ok")


def test_two_runs_are_equal_when_every_host_acted_alike() -> None:
    def digest(*lines: str) -> str:
        return Report.of(7, 100, [history(each, 1) for each in lines], "", "").digest

    assert digest("a", "b") == digest("a", "b")
    assert len({digest("a", "b"), digest("b", "a"), digest("a", "c")}) == 3


def test_a_failure_names_the_command_that_repeats_it() -> None:
    report = Report.of(7, 100, [History()], "loss: m1", " --world srmp")
    assert "BROKEN: loss: m1" in str(report)
    assert str(report).endswith("again: ./dev sim --seed 7 --world srmp")


def test_a_broken_promise_is_a_failure_and_so_is_a_broken_machine() -> None:
    def promise() -> None:
        raise Violation("loss: m1")

    def machine() -> None:
        raise KeyError("m1")

    assert failure_of(promise) == "loss: m1"
    assert failure_of(machine).startswith("KeyError: 'm1' (")
    assert "test_reports.py" in failure_of(machine)
    assert failure_of(lambda: None) == ""
