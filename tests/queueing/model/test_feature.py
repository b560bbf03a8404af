"""Tests that a feature adds only what it registers, and that hooks without features find nothing."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, fields
from uuid import UUID

import pytest

from reliquary.queueing.model.feature import Feature, Hooks
from tests.queueing.manager_harness import Bench


def test_a_feature_adds_only_what_it_registers() -> None:
    feature = Feature(name="plain")
    tables = [each.name for each in fields(Feature) if each.name != "name"]
    assert len(tables) == 7
    assert not any(getattr(feature, table) for table in tables)


def test_a_feature_does_not_change_once_it_is_registered() -> None:
    with pytest.raises(FrozenInstanceError):
        Feature(name="plain").rules = {}  # type: ignore[misc]


def test_without_a_directory_the_hooks_find_nothing() -> None:
    state, hooks = Bench().state, Hooks()
    assert not hooks.appliers
    assert not hooks.recorders
    assert hooks.published_queue(state, UUID(int=1)) is None
    assert hooks.list_members(state, UUID(int=1)) is None
    assert hooks.computer_name(state, UUID(int=1)) == ""
