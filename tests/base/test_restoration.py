"""What a store knows of its restoration."""

from __future__ import annotations

from uuid import UUID

import msgspec

from reliquary.base.restoration import Restoration


def test_it_comes_back_from_json() -> None:
    restoration = Restoration(UUID(int=3), 9)
    assert msgspec.json.decode(msgspec.json.encode(restoration), type=Restoration) == restoration


def test_how_long_the_old_manager_lived_may_be_unknown() -> None:
    assert Restoration(UUID(int=3)).alive_until == 0
