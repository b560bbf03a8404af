"""Tests the reference of the history: its tables are made from the code, and what is written by hand
stays.
"""

from __future__ import annotations

from pathlib import Path

from reliquary.wire.history import HISTORY_COLUMNS, HistoryEvent
from tools import history_reference
from tools.history_reference import COLUMNS, END, EVENTS, PAGE

ROOT = Path(__file__).parents[2]


def test_the_page_is_current() -> None:
    assert (ROOT / PAGE).read_text() == history_reference.page(ROOT), "run ./dev docs"


def test_only_what_lies_between_the_marks_is_made_anew(tmp_path: Path) -> None:
    assert history_reference.page(tmp_path) is None
    (tmp_path / PAGE).parent.mkdir(parents=True)
    made_before = f"made before\n{END}\n"
    (tmp_path / PAGE).write_text(f"by hand\n{EVENTS}\n{made_before}also\n{COLUMNS}\n{made_before}the end\n")
    page = history_reference.page(tmp_path)
    assert page is not None
    assert page.startswith(f"by hand\n{EVENTS}\n\n| Event |")
    assert f"|\n\n{END}\nalso\n{COLUMNS}\n\n| Column |" in page
    assert page.endswith(f"|\n\n{END}\nthe end\n")
    assert "made before" not in page
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) == len(HistoryEvent) + len(HISTORY_COLUMNS)
