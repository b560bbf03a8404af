"""Disks that are too small for what comes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path) -> Iterator[Path]:
    """A disk of 16 MB, at a place where nothing is."""
    place.mkdir()
    if shutil.which("mount") is None or _mount(place, "size=16m").returncode != 0:
        pytest.skip("a full disk is tried on a tmpfs, which only root may mount")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def enlarge(place: Path) -> None:
    """There is room again."""
    assert _mount(place, "remount,size=64m").returncode == 0


def _mount(place: Path, options: str) -> subprocess.CompletedProcess[bytes]:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    return subprocess.run(command, capture_output=True, check=False)
