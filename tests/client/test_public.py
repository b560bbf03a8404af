"""Tests what applications may rely on: the names of the package itself."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec
import pytest

import reliquary
from reliquary.client.sync.directory import Directory


@pytest.mark.parametrize("name", reliquary.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(reliquary, name).__name__ == name


def test_a_type_checker_sees_every_name() -> None:
    tree = ast.parse(Path(reliquary.__file__).read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == set(reliquary.__all__)


def records_of(kind: Any) -> Iterator[type[msgspec.Struct]]:
    """Yield the records that a type is made of, those in their fields included."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
        for field in get_type_hints(kind).values():
            yield from records_of(field)
    for part in get_args(kind):
        yield from records_of(part)


@pytest.mark.parametrize("face", [reliquary.Manager, reliquary.AsyncManager, reliquary.Queue, Directory])
def test_what_a_method_returns_has_a_public_name(face: type) -> None:
    found = {
        record.__name__
        for _, method in inspect.getmembers(face, inspect.isfunction)
        for record in records_of(get_type_hints(method).get("return"))
    }
    assert found
    assert found - set(reliquary.__all__) == set()


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = reliquary.nonsense


def test_a_machine_pays_for_no_client() -> None:
    code = "import sys, reliquary.base.time; print('asyncio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
