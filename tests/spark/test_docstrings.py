"""Tests the examples in docstrings of the room `spark`: they are apart, because its packages are not
everywhere.
"""

from __future__ import annotations

import doctest
import importlib
from pathlib import Path

import pytest

SOURCES = Path(__file__).parents[2] / "src"
WITH_EXAMPLES = sorted(
    path.relative_to(SOURCES)
    for path in (SOURCES / "reliquary" / "spark").rglob("*.py")
    if ">>> " in path.read_text()
)


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=str)
def test_the_examples_in_docstrings_are_true(path: Path) -> None:
    results = doctest.testmod(importlib.import_module(".".join(path.with_suffix("").parts)))
    assert results.attempted > 0
    assert results.failed == 0
