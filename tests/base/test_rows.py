"""Tests that a row whose value differs from what was written is detected."""

from __future__ import annotations

import re
from typing import Any
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import StoreDamage, StoreFailure
from reliquary.base.rows import CHUNK, FRAME, Table, UndecodedTable, every, unframe
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows


class Note(msgspec.Struct, frozen=True, omit_defaults=True):
    to: str
    stamps: int = 0
    body: bytes = b""
    parcel: UUID | None = None


class OldNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """The record in the form of an earlier release."""

    to: str


class RenamedNote(msgspec.Struct, frozen=True, omit_defaults=True):
    """The record in the form of a later release."""

    recipient: str
    postage: int = 0


NOTES = Table("notes", Note)
UNDECODED = UndecodedTable("notes", Note)
KEY = b"\x00\x07"
SAMPLE = Note("Ada", 2, b"Dear Ada", UUID(int=5))

notes = st.builds(Note, st.text(), st.integers(0, 2**64 - 1), st.binary(), st.one_of(st.none(), st.uuids()))
keys = st.binary(max_size=24)


@given(keys, notes)
def test_a_record_comes_back_as_it_was(key: bytes, note: Note) -> None:
    assert NOTES.decode(key, NOTES.encode(key, note)) == note


@given(st.dictionaries(keys, st.one_of(st.none(), notes)))
def test_many_rows_are_written_as_each_alone(rows: dict[bytes, Note | None]) -> None:
    alone = {key: None if row is None else NOTES.encode(key, row) for key, row in rows.items()}
    assert NOTES.encode_all(rows) == alone


@given(st.dictionaries(keys, notes), st.data())
def test_many_rows_are_read_as_each_alone(rows: dict[bytes, Note], data: st.DataObject) -> None:
    values = {key: NOTES.encode(key, row) for key, row in rows.items()}
    assert NOTES.decode_all(values.items()) == list(rows.items())
    plain = msgspec.msgpack.Decoder(Note)
    framed = NOTES.framed(list(values.items()))
    assert [plain.decode(each[FRAME:]) for each in framed] == list(rows.values())
    assert UNDECODED.decode_all(values.items()) == list(values.items())
    if values:
        key = data.draw(st.sampled_from(sorted(values)))
        place = data.draw(st.integers(0, len(values[key]) - 1))
        damaged = bytearray(values[key])
        damaged[place] ^= data.draw(st.integers(1, 255))
        with pytest.raises((StoreDamage, StoreFailure)) as alone:
            NOTES.decode(key, bytes(damaged))
        with pytest.raises(type(alone.value), match=re.escape(str(alone.value))):
            NOTES.decode_all((values | {key: bytes(damaged)}).items())
        with pytest.raises(type(alone.value), match=re.escape(str(alone.value))):
            NOTES.framed(list((values | {key: bytes(damaged)}).items()))
        with pytest.raises(type(alone.value), match=re.escape(str(alone.value))):
            UNDECODED.decode_all((values | {key: bytes(damaged)}).items())


def test_the_frame_is_one_byte_of_version_and_eight_of_checksum_before_the_record() -> None:
    value = NOTES.encode(KEY, SAMPLE)
    assert value[0] == 1
    assert msgspec.msgpack.decode(value[9:]) == {
        "to": "Ada",
        "stamps": 2,
        "body": b"Dear Ada",
        "parcel": UUID(int=5).bytes,
    }


def test_the_bytes_on_disk_do_not_change_from_release_to_release() -> None:
    assert NOTES.encode(KEY, Note("Ada")).hex() == "01d6cd6a938f667c9681a2746fa3416461"


def test_a_default_takes_no_room() -> None:
    assert b"stamps" not in NOTES.encode(KEY, Note("Ada"))


@given(st.integers(0, 8 * len(NOTES.encode(KEY, SAMPLE)) - 1))
def test_any_flipped_bit_is_found(bit: int) -> None:
    value = bytearray(NOTES.encode(KEY, SAMPLE))
    value[bit // 8] ^= 1 << bit % 8
    with pytest.raises(StoreDamage, match="notes row 0007 fails its checksum"):
        NOTES.decode(KEY, bytes(value))


def test_any_truncated_value_is_found() -> None:
    value = NOTES.encode(KEY, SAMPLE)
    for length in range(len(value)):
        with pytest.raises(StoreDamage, match="notes row 0007"):
            NOTES.decode(KEY, value[:length])


def test_a_value_too_short_for_its_frame_says_how_short() -> None:
    with pytest.raises(StoreDamage, match="is cut off at 3 bytes"):
        NOTES.decode(KEY, b"\x01\x02\x03")


@given(st.binary(min_size=1, max_size=20))
def test_a_value_with_further_bytes_is_found(more: bytes) -> None:
    with pytest.raises(StoreDamage, match="checksum"):
        NOTES.decode(KEY, NOTES.encode(KEY, SAMPLE) + more)


@given(keys, keys, notes)
def test_a_row_under_another_key_is_found(key: bytes, other: bytes, note: Note) -> None:
    value = NOTES.encode(key, note)
    if key != other:
        with pytest.raises(StoreDamage, match="checksum"):
            NOTES.decode(other, value)


@given(st.binary(max_size=40))
def test_any_bytes_are_read_or_reported_as_damage(value: bytes) -> None:
    with pytest.raises(StoreDamage):
        NOTES.decode(KEY, value)


def test_a_record_of_another_shape_is_damage() -> None:
    class Number(msgspec.Struct, frozen=True):
        value: int

    value = Table("numbers", Number).encode(KEY, Number(5))
    with pytest.raises(StoreDamage, match="notes row 0007 does not decode"):
        NOTES.decode(KEY, value)


# -- releases


def test_a_field_that_came_later_reads_as_its_default() -> None:
    value = Table("notes", OldNote).encode(KEY, OldNote("Ada"))
    assert NOTES.decode(KEY, value) == Note("Ada")


def renamed(fields: dict[str, object]) -> dict[str, object]:
    return {"recipient": fields["to"], "postage": fields.get("stamps", 0)}


def doubled(fields: dict[str, Any]) -> dict[str, object]:
    return fields | {"postage": 2 * fields["postage"]}


def test_an_old_row_goes_through_every_upgrade_in_turn() -> None:
    table = Table("notes", RenamedNote, version=3, upgrades={1: renamed, 2: doubled})
    assert table.decode(KEY, NOTES.encode(KEY, SAMPLE)) == RenamedNote("Ada", 4)
    second = Table("notes", RenamedNote, version=2).encode(KEY, RenamedNote("Bo", 3))
    assert table.decode(KEY, second) == RenamedNote("Bo", 6)
    third = table.encode(KEY, RenamedNote("Cy", 5))
    assert table.decode(KEY, third) == RenamedNote("Cy", 5)
    assert table.framed([(KEY, third), (KEY, second)]) == [third, table.encode(KEY, RenamedNote("Bo", 6))]


def test_an_old_row_whose_upgrade_does_not_fit_is_damage() -> None:
    table = Table("notes", RenamedNote, version=2, upgrades={1: dict})
    with pytest.raises(StoreDamage, match="does not decode"):
        table.decode(KEY, NOTES.encode(KEY, SAMPLE))


def test_a_row_of_a_newer_release_is_refused_and_not_called_damage() -> None:
    value = Table("notes", RenamedNote, version=2).encode(KEY, RenamedNote("Ada"))
    with pytest.raises(
        StoreFailure, match=r"notes row 0007 has version 2, this release knows 1: run"
    ) as refusal:
        NOTES.decode(KEY, value)
    assert refusal.value.kind == "newer"


def test_a_row_can_be_checked_without_knowing_its_record() -> None:
    version, body = unframe("notes", KEY, NOTES.encode(KEY, SAMPLE))
    assert version == 1
    assert msgspec.msgpack.decode(body)["to"] == "Ada"


def test_every_row_of_a_long_table_is_read() -> None:
    rows = StagedRows(MemoryDisk((NOTES.name,)))
    keys = [number.to_bytes(4) for number in range(2 * CHUNK + 1)]
    for key in keys:
        rows.put(NOTES, key, SAMPLE)
    assert [key for key, _ in every(rows, NOTES)] == keys
