"""Tests that the reference page of the history agrees with the code."""

from __future__ import annotations

from pathlib import Path

from reliquary.wire.history import ABOUT, CAME, HISTORY_COLUMNS, LEFT, HistoryEvent

REFERENCE = (Path(__file__).parents[2] / "docs" / "reference" / "history.md").read_text()


def test_the_reference_lists_every_event_and_no_other() -> None:
    assert list(ABOUT) == list(HistoryEvent)
    rows = "\n".join(f"| `{each.word}` | {about} |" for each, about in ABOUT.items())
    assert f"| Event | What happened |\n|---|---|\n{rows}\n\n" in REFERENCE


def test_the_reference_lists_every_column_with_its_type_and_no_other() -> None:
    rows = "\n".join(f"| `{each.name}` | {each.kind.value} | {each.about} |" for each in HISTORY_COLUMNS)
    assert f"| Column | Type | What it is |\n|---|---|---|\n{rows}\n" in REFERENCE


def test_no_kind_of_event_is_both_an_arrival_and_a_removal() -> None:
    assert not set(CAME) & set(LEFT)
