"""TOML is read, or refused with one sentence."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.toml import read_toml


def test_a_text_is_read() -> None:
    assert read_toml("[a]\nb = [1, {c = 2}]") == {"a": {"b": [1, {"c": 2}]}}


def test_text_that_is_not_toml_is_refused_with_its_position() -> None:
    with pytest.raises(UsageError, match="line 1"):
        read_toml("a = !\n")


@pytest.mark.parametrize("opening", ["[", "{b="])
def test_text_that_is_nested_too_deeply_is_refused(opening: str) -> None:
    with pytest.raises(UsageError, match="it is nested too deeply"):
        read_toml("a = " + opening * 100_000)
