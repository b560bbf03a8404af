"""Tests that every error of an engine becomes one sentence that names the folder."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.base.faults import StoreDamage, StoreFailure
from reliquary.store.engine_errors import fault_of, translate_errors

FOLDER = Path("/data/store")


@pytest.mark.parametrize(
    ("complaint", "kind"),
    [
        (
            "IO error: No space left on device: While appending to file: /data/store/4.log",
            "full",
        ),
        ("IO error: While open a file for appending: /data/store/LOG: Disk quota exceeded", "full"),
        ("IO error: While lock file: /data/store/LOCK: Resource temporarily unavailable", "locked"),
        ("IO error: lock hold by current process, acquire time 1: /data/store/LOCK: No locks", "locked"),
        ("IO error: While lock file: /data/store/LOCK: Permission denied", "permission"),
        ("Permission denied (os error 13)", "permission"),
        ("IO error: While open a file for appending: /data/store/LOG: Read-only file system", "permission"),
        ("Corruption: IO error: While open a file: /data/store/000008.sst: Permission denied", "permission"),
        ("Invalid argument: Column families not opened: sessions", "newer"),
        ("IO error: While fdatasync: /data/store/000004.log: Input/output error", "io"),
        ("something that no one has seen before", "io"),
    ],
)
def test_a_complaint_becomes_a_failure_of_its_kind(complaint: str, kind: str) -> None:
    fault = fault_of(Exception(complaint), FOLDER)
    assert isinstance(fault, StoreFailure)
    assert fault.kind == kind
    assert str(FOLDER) in str(fault)
    assert "\n" not in str(fault)


@pytest.mark.parametrize(
    "complaint",
    [
        "Corruption: block checksum mismatch: stored = 1, computed = 2 in /data/store/000009.sst",
        "Corruption: Sst file size mismatch: /data/store/000008.sst. Expected 7, actual 0\n  The file may be",
        "IO error: No such file or directory: While opening a file: /data/store/MANIFEST-000010",
        "Invalid argument: /data/store/CURRENT: does not exist (create_if_missing is false)",
    ],
)
def test_a_corruption_and_a_missing_file_are_damage(complaint: str) -> None:
    fault = fault_of(Exception(complaint), FOLDER)
    assert isinstance(fault, StoreDamage)
    assert str(FOLDER) in str(fault)
    assert "\n" not in str(fault)


def test_a_file_call_that_fails_is_reported_alike() -> None:
    with pytest.raises(StoreFailure) as failure, translate_errors(FOLDER):
        raise OSError(28, "No space left on device")
    assert failure.value.kind == "full"


def test_a_programming_error_passes_unchanged() -> None:
    with pytest.raises(KeyError), translate_errors(FOLDER):
        raise KeyError("unheard of")
