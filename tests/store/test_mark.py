"""The synced mark: a number that is true or not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.store.mark import NAME, SyncedMark, read_mark


def test_a_mark_is_read_as_it_was_moved_last(tmp_path: Path) -> None:
    mark = SyncedMark(tmp_path)
    mark.move(7)
    mark.move(2**40)
    assert read_mark(tmp_path) == 2**40  # without a close: the process may die
    mark.close()


def test_opening_a_mark_does_not_move_it(tmp_path: Path) -> None:
    for _ in range(2):
        mark = SyncedMark(tmp_path)
        if read_mark(tmp_path) is None:
            mark.move(7)
        mark.close()
    assert read_mark(tmp_path) == 7


@pytest.mark.parametrize("content", [None, b"", b"\0" * 12, b"\1" * 12, b"\1" * 13])
def test_a_mark_that_is_missing_or_torn_says_nothing(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / NAME).write_bytes(content)
    assert read_mark(tmp_path) is None
