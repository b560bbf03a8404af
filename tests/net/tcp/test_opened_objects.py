"""Tests that a connection closes what it opened."""

from __future__ import annotations

from functools import partial

import pytest

from reliquary.net.tcp.opened_objects import OpenedObjects


def test_what_is_open_at_the_end_is_closed_the_latest_first() -> None:
    closed: list[str] = []
    opened_objects = OpenedObjects()
    for name in ("handle", "cursor", "read"):
        opened_objects.keep(name, partial(closed.append, name))
    opened_objects.release("cursor")
    opened_objects.release("never opened")
    assert "handle" in opened_objects
    assert "cursor" not in opened_objects
    opened_objects.close()
    assert closed == ["read", "handle"]
    opened_objects.close()
    assert closed == ["read", "handle"]


def test_what_was_opened_while_the_connection_was_lost_is_closed_at_once() -> None:
    closed: list[str] = []
    opened_objects = OpenedObjects()
    opened_objects.close()
    opened_objects.keep("late", partial(closed.append, "late"))
    assert closed == ["late"]
    assert "late" not in opened_objects
    opened_objects.release("late")


def test_a_close_may_release_another() -> None:
    closed: list[str] = []
    opened_objects = OpenedObjects()
    opened_objects.keep("cursor", partial(closed.append, "cursor"))
    opened_objects.keep("handle", lambda: opened_objects.release("cursor"))
    opened_objects.close()
    assert closed == ["cursor"]


def test_one_key_is_not_open_twice() -> None:
    opened_objects = OpenedObjects()
    opened_objects.keep("a", lambda: None)
    with pytest.raises(AssertionError, match="'a' is open already"):
        opened_objects.keep("a", lambda: None)
