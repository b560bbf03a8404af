"""Tests the witness outside the folder: it tells when an older copy of a store was put back."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from uuid import UUID

import pytest

from reliquary.base.restoration import Restoration
from reliquary.net.chance import SystemChance
from reliquary.store import Changes, RocksDisk, backup_stopped, restore
from reliquary.store.restored import noted
from reliquary.store.witness import Statement, begin, beside, consult, encode, read
from tests.store.conftest import TABLES

OWNER = UUID(int=7)
MOMENT = 1_700_000_000


@pytest.fixture
def witness(folder: Path) -> Path:
    place = beside(folder)
    assert place is not None
    return place


def opened(folder: Path, owner: UUID = OWNER) -> RocksDisk:
    disk = RocksDisk(folder, TABLES, witness=beside(folder))
    disk.belongs_to(owner)
    return disk


def live(folder: Path, *keys: bytes, owner: UUID = OWNER) -> Restoration | None:
    """Return one life of a store; the answer is what it knew of a restoration."""
    disk = opened(folder, owner)
    restoration = disk.restoration
    for key in keys:
        disk.apply(Changes({"letters": {key: b""}}))
        disk.sync()
    disk.restoration_begun()
    disk.close()
    return restoration


# The file


def test_what_was_written_is_read(tmp_path: Path) -> None:
    os.close(begin(tmp_path / "w", OWNER.bytes, 77))
    os.utime(tmp_path / "w", (MOMENT, MOMENT))
    assert read(tmp_path / "w") == Statement(OWNER.bytes, 77, MOMENT * 1_000_000)


@pytest.mark.parametrize("place", range(len(encode(OWNER.bytes, 77))))
def test_a_witness_with_a_flipped_bit_says_nothing(tmp_path: Path, place: int) -> None:
    content = bytearray(encode(OWNER.bytes, 77))
    content[place] ^= 1
    (tmp_path / "w").write_bytes(content)
    assert read(tmp_path / "w") is None


@pytest.mark.parametrize("content", [b"", encode(OWNER.bytes, 77)[:-1], encode(OWNER.bytes, 77) + b"x"])
def test_a_witness_that_is_cut_says_nothing(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "w").write_bytes(content)
    assert read(tmp_path / "w") is None


def test_a_witness_that_is_missing_or_a_folder_says_nothing(tmp_path: Path) -> None:
    assert read(tmp_path / "nothing") is None
    assert read(tmp_path) is None
    assert begin(tmp_path / "nothing" / "at all", OWNER.bytes, 1) == -1


def test_a_witness_is_a_file_beside_the_folder(tmp_path: Path) -> None:
    assert beside(tmp_path / "data") == tmp_path / "data.witness"
    assert beside(Path("/")) is None


# What it says


@pytest.mark.parametrize(
    ("owner", "found", "note", "expected"),
    [
        pytest.param(OWNER, 77, None, None, id="the store is where it was"),
        pytest.param(OWNER, 78, None, None, id="the store is further: a sync was not noted"),
        pytest.param(UUID(int=8), 5, None, None, id="the witness of another store"),
        pytest.param(OWNER, 76, None, MOMENT, id="an older copy"),
        pytest.param(OWNER, 5, Restoration(UUID(int=1)), MOMENT, id="a restore without a moment"),
        pytest.param(OWNER, 5, Restoration(UUID(int=1), 9), 9 / 1e6, id="a restore with a moment"),
        pytest.param(
            UUID(int=8), 5, Restoration(UUID(int=1)), 0, id="a restore in the place of another store"
        ),
    ],
)
def test_a_store_was(
    tmp_path: Path, owner: UUID, found: int, note: Restoration | None, expected: float | None
) -> None:
    os.close(begin(tmp_path / "w", OWNER.bytes, 77))
    os.utime(tmp_path / "w", (MOMENT, MOMENT))
    known = consult(tmp_path / "w", owner.bytes, found, note)
    assert (None if known is None else known.alive_until) == (
        None if expected is None else round(expected * 1_000_000)
    )
    if note is not None:
        assert known is not None
        assert known.identifier == note.identifier


# Stores


def test_the_witness_follows_every_sync(folder: Path, witness: Path) -> None:
    disk = opened(folder)
    for number in (1, 2, 3):
        disk.apply(Changes({"letters": {b"%d" % number: b""}}))
        disk.sync()
        said = read(witness)
        assert said is not None
        assert (said.owner, said.synced) == (OWNER.bytes, number)
    disk.close()


def test_an_older_copy_is_known_until_its_era_begins(folder: Path, tmp_path: Path, witness: Path) -> None:
    assert live(folder, b"a") is None
    shutil.copytree(folder, tmp_path / "copy")
    assert live(folder, b"b", b"c") is None
    shutil.rmtree(folder)
    shutil.copytree(tmp_path / "copy", folder)
    os.utime(witness, (MOMENT, MOMENT))
    known = []
    for _ in range(2):  # the first start is cut short: its process ends before the era is on disk
        disk = RocksDisk(folder, TABLES, witness=witness)
        known.append(disk.restoration)
        disk.belongs_to(OWNER)
        disk.close()
    assert known[0] == known[1] == noted(folder)
    assert known[0] is not None
    assert known[0].alive_until == MOMENT * 1_000_000
    assert live(folder, b"d") == known[0]
    assert live(folder, b"e") is None


def test_two_older_copies_are_two_restorations(folder: Path, tmp_path: Path) -> None:
    live(folder, b"a")
    shutil.copytree(folder, tmp_path / "copy")
    known = []
    for keys in ((b"b", b"c"), (b"b",) * 9):
        live(folder, *keys)
        shutil.rmtree(folder)
        shutil.copytree(tmp_path / "copy", folder)
        known.append(live(folder))
    assert None not in known
    assert known[0] != known[1]


def test_a_copy_at_another_place_and_another_store_at_this_place_are_no_restorations(
    folder: Path, tmp_path: Path
) -> None:
    live(folder, b"a")
    shutil.copytree(folder, tmp_path / "copy")
    live(folder, b"b", b"c", b"d")
    assert live(tmp_path / "copy", b"b") is None
    shutil.rmtree(folder)
    assert live(folder, b"a", owner=UUID(int=8)) is None
    assert live(folder, owner=UUID(int=8)) is None


def test_a_restored_store_reads_from_the_witness_when_the_old_one_ended(
    folder: Path, tmp_path: Path, witness: Path
) -> None:
    live(folder, b"a")
    backup_stopped(folder, tmp_path / "backup")
    live(folder, b"b", b"c")
    shutil.rmtree(folder)
    os.utime(witness, (MOMENT, MOMENT))
    restore(tmp_path / "backup", folder, SystemChance())
    note = noted(folder)
    assert note is not None
    assert live(folder, b"d") == Restoration(note.identifier, MOMENT * 1_000_000)
    assert live(folder) is None


def test_a_store_without_an_owner_has_no_witness(folder: Path, witness: Path) -> None:
    disk = RocksDisk(folder, TABLES, witness=witness)
    disk.apply(Changes({"letters": {b"a": b""}}))
    disk.sync()
    disk.close()
    assert not witness.exists()


def test_a_witness_that_cannot_be_written_stops_nothing(folder: Path, tmp_path: Path) -> None:
    disk = RocksDisk(folder, TABLES, witness=tmp_path / "nowhere" / "at all")
    disk.belongs_to(OWNER)
    disk.apply(Changes({"letters": {b"a": b""}}))
    disk.sync()
    disk._mark._witness = os.open(folder / "FORMAT", os.O_RDONLY)  # every write to it fails
    disk.apply(Changes({"letters": {b"b": b""}}))
    disk.sync()
    assert disk._mark._witness == -1
    disk.close()


def test_a_crash_without_a_close_is_no_older_copy(folder: Path, tmp_path: Path, witness: Path) -> None:
    disk = opened(folder)
    for number in range(20):
        disk.apply(Changes({"letters": {b"%d" % number: b""}}))
        disk.sync()
    disk.apply(Changes({"letters": {b"unsynced": b""}}))
    shutil.copytree(folder, tmp_path / "after" / "store")
    shutil.copy(witness, tmp_path / "after")
    disk.close()
    assert live(tmp_path / "after" / "store") is None
