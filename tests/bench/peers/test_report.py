"""Tests the table, and its place in a page."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.peers.report import BEGIN, END, WIDTH, publish, put_between_marks, table
from bench.peers.rounds import Summary
from bench.peers.syncs import Proof

README = Path(__file__).parents[3] / "README.md"


def summary(peer: str, shape: str, rate: float, ratio: float | None) -> Summary:
    return Summary(peer, shape, rate, rate, rate, ratio, server_us=8.6, load_us=1, confirm_ms=1)


def test_the_table_has_a_row_a_peer_and_says_who_did_not_wait() -> None:
    rows = [
        summary("a", "1x1", 1234.5, 1),
        summary("a", "16x64", 82_000, None),
        summary("b", "1x1", 99, 0.0801),
    ]
    proofs = [Proof("a", 100, 150, 21.44), Proof("b", 100, 0, 0.1)]
    assert table(rows, proofs, {"a": "Alpha 1", "b": "Beta 2"}, {"a": "synced", "b": "not"}) == (
        "| Messages/s, ratio, server µs a message | 1 × 1 | 16 × 64 | Syncs a confirm, fastest |\n"
        "|---|---:|---:|---|\n"
        "| Alpha 1, synced | 1,234, 1.00, 9 µs | 82,000, 9 µs | 1.50, 21.4 ms |\n"
        "| Beta 2, not | 99, 0.08, 9 µs | – | 0.00, 0.1 ms: **not every confirm waits for a sync** |\n"
    )


def test_a_peer_whose_syncs_were_not_counted_is_named_so() -> None:
    assert "| not looked at |" in table([summary("a", "1x1", 1, 1)], [], {"a": "A"}, {"a": "x"})


def test_only_what_is_between_the_marks_is_renewed(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(f"before\n{BEGIN}\nold\n{END}\nafter\n")
    publish(page, "new\n", "one round")
    publish(page, "newer\n", "two rounds " * 20)
    before, _, rest = page.read_text().partition(f"{BEGIN}\nnewer\n\nTwo rounds")
    figures, _, after = rest.partition(f"\n{END}\n")
    assert (before, after) == ("before\n", "after\n")
    assert max(map(len, figures.splitlines())) <= WIDTH


@pytest.mark.parametrize("page", ["", BEGIN, END])
def test_a_page_without_the_marks_is_left_alone(page: str) -> None:
    with pytest.raises(ValueError, match="no place"):
        put_between_marks(page, "new")


def test_the_readme_has_a_place_for_the_table() -> None:
    assert "| new |" in put_between_marks(README.read_text(), "| new |\n")
