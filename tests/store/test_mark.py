"""Tests that the mark is true and complete, or not read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reliquary.store.mark import (
    MOST_LOGS,
    NAME,
    NIL_ID,
    SLOT,
    LogStart,
    Mark,
    SyncedMark,
    decode_slot,
    encode_slot,
    read_mark,
    write_mark,
)

MARK = Mark(2**40, 5, 636, b"o" * 16, (LogStart(4, 1), LogStart(8, 77)), 9)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "CURRENT").write_text("MANIFEST-000005\n")
    (tmp_path / "MANIFEST-000005").write_bytes(bytes(100))
    return tmp_path


def log(folder: Path, number: int, first: int) -> None:
    """Return a log with one record, which has one change."""
    batch = first.to_bytes(8, "little") + (1).to_bytes(4, "little")
    (folder / f"{number:06}.log").write_bytes(bytes(4) + len(batch).to_bytes(2, "little") + b"\1" + batch)


def found(folder: Path) -> Mark:
    mark = read_mark(folder)
    assert mark is not None
    return mark


def test_a_slot_is_encoded_and_decoded() -> None:
    assert decode_slot(encode_slot(MARK)) == MARK
    assert decode_slot(encode_slot(MARK).ljust(SLOT, b"\0")) == MARK


def test_the_most_logs_that_are_noted_fit_into_a_slot() -> None:
    full = MARK._replace(logs=tuple(LogStart(number, number) for number in range(MOST_LOGS)))
    assert len(encode_slot(full)) <= SLOT
    assert decode_slot(encode_slot(full)) == full


@pytest.mark.parametrize("place", range(len(encode_slot(MARK))))
def test_a_slot_with_a_flipped_bit_is_not_read(place: int) -> None:
    slot = bytearray(encode_slot(MARK))
    slot[place] ^= 1
    assert decode_slot(bytes(slot)) is None


@pytest.mark.parametrize("size", range(len(encode_slot(MARK))))
def test_a_truncated_slot_is_not_read(size: int) -> None:
    assert decode_slot(encode_slot(MARK)[:size]) is None


def test_a_mark_is_read_with_its_last_position(folder: Path) -> None:
    mark = SyncedMark(folder, 3, 0)
    assert found(folder).synced == 3
    for number in (7, 8, 2**40):
        mark.move(number, 0)
        assert found(folder).synced == number  # without a close: the process may die
    mark.close()


def test_the_later_of_two_slots_is_valid_and_one_is_enough(folder: Path) -> None:
    mark = SyncedMark(folder, 0, 0)
    mark.move(7, 0)
    mark.move(8, 0)
    mark.close()
    content = (folder / NAME).read_bytes()
    read = set()
    for slot in (0, 1):
        spoilt = bytearray(content)
        spoilt[slot * SLOT + 20] ^= 1
        (folder / NAME).write_bytes(spoilt)
        read.add(found(folder).synced)
    assert read == {7, 8}


@pytest.mark.parametrize("content", [None, b"", b"\0" * 12, b"\1" * 12, b"\1" * 13, bytes(2 * SLOT)])
def test_a_missing_or_torn_mark_is_not_read(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / NAME).write_bytes(content)
    assert read_mark(tmp_path) is None


def test_a_mark_can_be_given_to_a_folder_that_is_not_open(tmp_path: Path) -> None:
    write_mark(tmp_path, MARK)
    assert read_mark(tmp_path) == MARK
    assert (tmp_path / NAME).stat().st_size == 2 * SLOT


# What it says of the folder


def test_logs_are_named_when_they_hold_a_synced_change(folder: Path) -> None:
    log(folder, 4, 1)
    mark = SyncedMark(folder, 1, 0)
    assert found(folder).logs == (LogStart(4, 1),)
    log(folder, 8, 20)
    (folder / "000010.log").touch()
    mark.move(19, 0)
    assert found(folder).logs == (LogStart(4, 1),), "change 20 is not synced: a power cut may take its log"
    mark.move(20, 0)
    assert found(folder).logs == (LogStart(4, 1), LogStart(8, 20))
    log(folder, 10, 30)  # it was there before, and empty: no name changes
    mark.move(30, 0)
    assert found(folder).logs == (LogStart(4, 1), LogStart(8, 20), LogStart(10, 30))
    mark.close()


def test_obsolete_logs_are_not_named(folder: Path) -> None:
    log(folder, 4, 1)
    log(folder, 8, 20)
    mark = SyncedMark(folder, 30, 0)
    mark.move(31, 5)
    assert found(folder).logs == (LogStart(8, 20),)
    (folder / "000008.log").unlink()
    mark.move(32, 5)
    assert found(folder).logs == ()
    mark.close()


def test_the_size_of_the_manifest_is_noted_once_it_is_synced(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[int] = []

    def fsync(file: int) -> None:
        synced.append(os.fstat(file).st_size)

    monkeypatch.setattr(os, "fsync", fsync)
    mark = SyncedMark(folder, 1, 0)
    assert found(folder)[1:3] == (5, 100)
    assert 100 in synced
    (folder / "MANIFEST-000005").write_bytes(bytes(150))
    mark.move(2, 0)
    assert found(folder)[1:3] == (5, 150)
    assert 150 in synced
    (folder / "MANIFEST-000009").write_bytes(bytes(70))
    (folder / "CURRENT").write_text("MANIFEST-000009\n")
    mark.move(3, 0)
    assert found(folder)[1:3] == (9, 70)
    mark.close()


def test_a_manifest_that_is_replaced_at_this_moment_is_not_known(folder: Path) -> None:
    mark = SyncedMark(folder, 1, 0)
    (folder / "MANIFEST-000005").unlink()
    mark.move(2, 0)
    assert found(folder)[:3] == (2, 0, 0)
    (folder / "MANIFEST-000009").write_bytes(bytes(70))
    (folder / "CURRENT").write_text("MANIFEST-000009\n")
    mark.move(3, 0)
    assert found(folder)[:3] == (3, 9, 70)
    mark.close()


def test_the_owner_is_noted_in_both_slots_and_stays(folder: Path) -> None:
    mark = SyncedMark(folder, 1, 0)
    assert mark.owner == found(folder).owner == NIL_ID
    mark.belongs_to(b"o" * 16)
    content = (folder / NAME).read_bytes()
    both = [decode_slot(content[place : place + SLOT]) for place in (0, SLOT)]
    assert [slot and slot.owner for slot in both] == [b"o" * 16] * 2
    mark.move(2, 0)
    assert found(folder).owner == mark.owner == b"o" * 16
    mark.close()
