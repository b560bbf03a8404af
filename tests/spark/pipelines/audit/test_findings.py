"""Spark finds what was planted, and nothing else; the reference agrees."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from reliquary.spark.pipelines.audit.verdicts import FindingKind
from tests.spark.pipelines.audit.reference import Reference

if TYPE_CHECKING:
    from tests.spark.pipelines.audit.conftest import Audited


def test_every_planted_fault_is_found_once_and_none_is_invented(audited: Audited) -> None:
    assert sorted(audited.found) == sorted(audited.expected)


def test_the_reference_agrees(audited: Audited) -> None:
    reference = Reference(audited.rows)
    assert set(audited.found) == reference.found
    assert sum(audited.report.unjudged.values()) == reference.unjudged == 0


def test_the_events_that_prove_a_finding_are_those_of_its_message(audited: Audited) -> None:
    known = {(row["manager"], row["event_id"]): row for row in audited.rows}
    numbers = {
        (row["manager"], row["message"]): row["message_id"] for row in audited.rows if row["message_id"]
    }
    for finding in audited.findings:
        assert finding["events"]
        for event in finding["events"]:
            row = known[finding["manager"], event]
            assert numbers[row["manager"], row["message"]] == finding["message_id"]
        for event in finding["other_events"]:
            row = known[finding["other_manager"] or finding["manager"], event]
            assert numbers[row["manager"], row["message"]] == finding["message_id"]


@pytest.mark.parametrize("kind", FindingKind)
def test_a_finding_tells_its_stream_and_a_sentence(audited: Audited, kind: FindingKind) -> None:
    chosen = [finding for finding in audited.findings if finding["kind"] == kind]
    assert chosen
    for finding in chosen:
        assert finding["stream"].startswith(f"{finding['manager_name']}: {finding['queue']}")
        assert finding["sentence"].startswith("The message ")
        assert finding["sentence"].endswith(".")
        assert finding["time"] is not None
