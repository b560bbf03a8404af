"""What applications may rely on: the names of the package itself."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import reliquary


@pytest.mark.parametrize("name", reliquary.__all__)
def test_every_name_is_there(name: str) -> None:
    assert getattr(reliquary, name).__name__ == name


def test_a_type_checker_sees_the_same_names() -> None:
    tree = ast.parse(Path(reliquary.__file__).read_text())
    guarded = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {alias.name for node in guarded.body if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert seen == set(reliquary.__all__)


def test_other_names_are_not() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = reliquary.nonsense


def test_a_machine_pays_for_no_client() -> None:
    code = "import sys, reliquary.base.time; print('asyncio' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
