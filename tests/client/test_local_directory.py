"""Tests the directory of a manager in process: what it does is in test_directory, for both transports."""

from __future__ import annotations

from pathlib import Path

import reliquary


def test_a_folder_keeps_its_directory(tmp_path: Path) -> None:
    with reliquary.connect(tmp_path / "data") as qm:
        made = qm.directory.add("distribution-list", name="shops", format_names=["DIRECT=OS:a\\x"])
    with reliquary.connect(tmp_path / "data") as qm:
        assert qm.directory.object("distribution-list", "SHOPS") == made
