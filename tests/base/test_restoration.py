"""Tests the record of a restoration of a store."""

from __future__ import annotations

from uuid import UUID

import msgspec

from reliquary.base.restoration import Restoration


def test_a_restoration_is_read_back_from_json() -> None:
    restoration = Restoration(UUID(int=3), 9)
    assert msgspec.json.decode(msgspec.json.encode(restoration), type=Restoration) == restoration


def test_the_end_of_the_old_manager_may_be_unknown() -> None:
    assert Restoration(UUID(int=3)).alive_until == 0
