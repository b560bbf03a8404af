"""Disks that are too small for what comes."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest


@contextmanager
def small_disk(place: Path, megabytes: int = 16) -> Iterator[Path]:
    """Yield a small disk, at a place where nothing is."""
    place.mkdir()
    if shutil.which("mount") is None or _mount(place, f"size={megabytes}m").returncode != 0:
        pytest.skip("a full disk is tried on a tmpfs, which only root may mount")
    try:
        yield place
    finally:
        subprocess.run(["umount", str(place)], check=True)


def fill(place: Path, left: int = 0) -> Path:
    """Take all room but this many megabytes; the answer is the file that has it."""
    filler = place / "filler"
    with filler.open("wb", buffering=0) as file, suppress(OSError):
        while shutil.disk_usage(place).free > left << 20:
            file.write(bytes(4096))
    return filler


def enlarge(place: Path) -> None:
    """Give the file system more room."""
    assert _mount(place, "remount,size=64m").returncode == 0


def _mount(place: Path, options: str) -> subprocess.CompletedProcess[bytes]:
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    return subprocess.run(command, capture_output=True, check=False)
