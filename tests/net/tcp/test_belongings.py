"""Tests that a connection closes what it opened."""

from __future__ import annotations

from functools import partial

import pytest

from reliquary.net.tcp.belongings import Belongings


def test_what_is_open_at_the_end_is_closed_the_latest_first() -> None:
    closed: list[str] = []
    belongings = Belongings()
    for name in ("handle", "cursor", "read"):
        belongings.keep(name, partial(closed.append, name))
    belongings.release("cursor")
    belongings.release("never opened")
    assert "handle" in belongings
    assert "cursor" not in belongings
    belongings.close()
    assert closed == ["read", "handle"]
    belongings.close()
    assert closed == ["read", "handle"]


def test_what_was_opened_while_the_connection_was_lost_is_closed_at_once() -> None:
    closed: list[str] = []
    belongings = Belongings()
    belongings.close()
    belongings.keep("late", partial(closed.append, "late"))
    assert closed == ["late"]
    assert "late" not in belongings
    belongings.release("late")


def test_a_close_may_release_another() -> None:
    closed: list[str] = []
    belongings = Belongings()
    belongings.keep("cursor", partial(closed.append, "cursor"))
    belongings.keep("handle", lambda: belongings.release("cursor"))
    belongings.close()
    assert closed == ["cursor"]


def test_one_key_is_not_open_twice() -> None:
    belongings = Belongings()
    belongings.keep("a", lambda: None)
    with pytest.raises(AssertionError, match="'a' is open already"):
        belongings.keep("a", lambda: None)
