"""Tests the reserve: disk space that is taken, and freed."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from reliquary.store.reserve import NAME, Reserve

SIZE = 1_000_000


def test_the_reserve_takes_room_until_it_is_released(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path, SIZE)
    assert reserve.held == 0
    assert reserve.make()
    assert reserve.held >= SIZE
    assert (tmp_path / NAME).stat().st_size == SIZE
    assert reserve.make(), "a second time changes nothing"
    assert Reserve(tmp_path, SIZE).held == reserve.held, "the next process finds it"
    assert reserve.release() >= SIZE
    assert (reserve.held, list(tmp_path.iterdir())) == (0, [])
    assert reserve.release() == 0


def test_a_reserve_that_is_too_small_by_now_grows(tmp_path: Path) -> None:
    Reserve(tmp_path, SIZE).make()
    assert Reserve(tmp_path, 2 * SIZE).make()
    assert (tmp_path / NAME).stat().st_size == 2 * SIZE


def test_a_reserve_without_a_size_has_no_file(tmp_path: Path) -> None:
    assert not Reserve(tmp_path, 0).make()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EOPNOTSUPP])
def test_where_there_is_no_room_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(code, os.strerror(code))

    monkeypatch.setattr(os, "posix_fallocate", refuse)
    assert not Reserve(tmp_path, SIZE).make()
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_is_not_there_has_no_reserve(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path / "nothing", SIZE)
    assert not reserve.make()
    assert (reserve.held, reserve.release()) == (0, 0)
