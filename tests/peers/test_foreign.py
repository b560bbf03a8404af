"""Warnings of libraries are ignored."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from tests.peers.foreign import foreign


def test_a_module_that_warns_is_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "library_that_warns.py").write_text("import warnings\nwarnings.warn('old')\nnumber = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert foreign("library_that_warns").number == 1
