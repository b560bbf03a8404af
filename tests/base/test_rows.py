"""Rows as bytes: a value that is not as it was written is found, whatever happened to it."""

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


class Letter(msgspec.Struct, frozen=True, omit_defaults=True):
    to: str
    stamps: int = 0
    body: bytes = b""
    parcel: UUID | None = None


class OldLetter(msgspec.Struct, frozen=True, omit_defaults=True):
    """The record as an earlier release wrote it."""

    to: str


class RenamedLetter(msgspec.Struct, frozen=True, omit_defaults=True):
    """The record as a later release writes it."""

    recipient: str
    postage: int = 0


LETTERS = Table("letters", Letter)
UNDECODED = UndecodedTable("letters", Letter)
KEY = b"\x00\x07"
SAMPLE = Letter("Ada", 2, b"Dear Ada", UUID(int=5))

letters = st.builds(
    Letter, st.text(), st.integers(0, 2**64 - 1), st.binary(), st.one_of(st.none(), st.uuids())
)
keys = st.binary(max_size=24)


@given(keys, letters)
def test_a_record_comes_back_as_it_was(key: bytes, letter: Letter) -> None:
    assert LETTERS.decode(key, LETTERS.encode(key, letter)) == letter


@given(st.dictionaries(keys, st.one_of(st.none(), letters)))
def test_many_rows_are_written_as_each_alone(rows: dict[bytes, Letter | None]) -> None:
    alone = {key: None if row is None else LETTERS.encode(key, row) for key, row in rows.items()}
    assert LETTERS.encode_all(rows) == alone


@given(st.dictionaries(keys, letters), st.data())
def test_many_rows_are_read_as_each_alone(rows: dict[bytes, Letter], data: st.DataObject) -> None:
    values = {key: LETTERS.encode(key, row) for key, row in rows.items()}
    assert LETTERS.decode_all(values.items()) == list(rows.items())
    plain = msgspec.msgpack.Decoder(Letter)
    framed = LETTERS.framed(list(values.items()))
    assert [plain.decode(each[FRAME:]) for each in framed] == list(rows.values())
    assert UNDECODED.decode_all(values.items()) == list(values.items())
    if values:
        key = data.draw(st.sampled_from(sorted(values)))
        place = data.draw(st.integers(0, len(values[key]) - 1))
        damaged = bytearray(values[key])
        damaged[place] ^= data.draw(st.integers(1, 255))
        with pytest.raises((StoreDamage, StoreFailure)) as alone:
            LETTERS.decode(key, bytes(damaged))
        with pytest.raises(type(alone.value), match=re.escape(str(alone.value))):
            LETTERS.decode_all((values | {key: bytes(damaged)}).items())
        with pytest.raises(type(alone.value), match=re.escape(str(alone.value))):
            LETTERS.framed(list((values | {key: bytes(damaged)}).items()))
        with pytest.raises(type(alone.value), match=re.escape(str(alone.value))):
            UNDECODED.decode_all((values | {key: bytes(damaged)}).items())


def test_the_frame_is_one_byte_of_version_and_eight_of_checksum_before_the_record() -> None:
    value = LETTERS.encode(KEY, SAMPLE)
    assert value[0] == 1
    assert msgspec.msgpack.decode(value[9:]) == {
        "to": "Ada",
        "stamps": 2,
        "body": b"Dear Ada",
        "parcel": UUID(int=5).bytes,
    }


def test_the_bytes_on_disk_do_not_change_from_release_to_release() -> None:
    assert LETTERS.encode(KEY, Letter("Ada")).hex() == "01d6cd6a938f667c9681a2746fa3416461"


def test_a_default_takes_no_room() -> None:
    assert b"stamps" not in LETTERS.encode(KEY, Letter("Ada"))


@given(st.integers(0, 8 * len(LETTERS.encode(KEY, SAMPLE)) - 1))
def test_any_flipped_bit_is_found(bit: int) -> None:
    value = bytearray(LETTERS.encode(KEY, SAMPLE))
    value[bit // 8] ^= 1 << bit % 8
    with pytest.raises(StoreDamage, match="letters row 0007 fails its checksum"):
        LETTERS.decode(KEY, bytes(value))


def test_any_truncated_value_is_found() -> None:
    value = LETTERS.encode(KEY, SAMPLE)
    for length in range(len(value)):
        with pytest.raises(StoreDamage, match="letters row 0007"):
            LETTERS.decode(KEY, value[:length])


def test_a_value_too_short_for_its_frame_says_how_short() -> None:
    with pytest.raises(StoreDamage, match="is cut off at 3 bytes"):
        LETTERS.decode(KEY, b"\x01\x02\x03")


@given(st.binary(min_size=1, max_size=20))
def test_a_value_with_more_behind_it_is_found(more: bytes) -> None:
    with pytest.raises(StoreDamage, match="checksum"):
        LETTERS.decode(KEY, LETTERS.encode(KEY, SAMPLE) + more)


@given(keys, keys, letters)
def test_a_row_under_another_key_is_found(key: bytes, other: bytes, letter: Letter) -> None:
    value = LETTERS.encode(key, letter)
    if key != other:
        with pytest.raises(StoreDamage, match="checksum"):
            LETTERS.decode(other, value)


@given(st.binary(max_size=40))
def test_no_bytes_make_the_reader_stumble(value: bytes) -> None:
    with pytest.raises(StoreDamage):
        LETTERS.decode(KEY, value)


def test_a_record_of_another_shape_is_damage() -> None:
    class Number(msgspec.Struct, frozen=True):
        value: int

    value = Table("numbers", Number).encode(KEY, Number(5))
    with pytest.raises(StoreDamage, match="letters row 0007 does not decode"):
        LETTERS.decode(KEY, value)


# -- releases


def test_a_field_that_came_later_reads_as_its_default() -> None:
    value = Table("letters", OldLetter).encode(KEY, OldLetter("Ada"))
    assert LETTERS.decode(KEY, value) == Letter("Ada")


def renamed(fields: dict[str, object]) -> dict[str, object]:
    return {"recipient": fields["to"], "postage": fields.get("stamps", 0)}


def doubled(fields: dict[str, Any]) -> dict[str, object]:
    return fields | {"postage": 2 * fields["postage"]}


def test_an_old_row_goes_through_every_upgrade_in_turn() -> None:
    table = Table("letters", RenamedLetter, version=3, upgrades={1: renamed, 2: doubled})
    assert table.decode(KEY, LETTERS.encode(KEY, SAMPLE)) == RenamedLetter("Ada", 4)
    second = Table("letters", RenamedLetter, version=2).encode(KEY, RenamedLetter("Bo", 3))
    assert table.decode(KEY, second) == RenamedLetter("Bo", 6)
    third = table.encode(KEY, RenamedLetter("Cy", 5))
    assert table.decode(KEY, third) == RenamedLetter("Cy", 5)
    assert table.framed([(KEY, third), (KEY, second)]) == [third, table.encode(KEY, RenamedLetter("Bo", 6))]


def test_an_old_row_whose_upgrade_does_not_fit_is_damage() -> None:
    table = Table("letters", RenamedLetter, version=2, upgrades={1: dict})
    with pytest.raises(StoreDamage, match="does not decode"):
        table.decode(KEY, LETTERS.encode(KEY, SAMPLE))


def test_a_row_of_a_newer_release_is_refused_and_not_called_damage() -> None:
    value = Table("letters", RenamedLetter, version=2).encode(KEY, RenamedLetter("Ada"))
    with pytest.raises(
        StoreFailure, match=r"letters row 0007 has version 2, this release knows 1: run"
    ) as refusal:
        LETTERS.decode(KEY, value)
    assert refusal.value.kind == "newer"


def test_a_row_can_be_checked_without_knowing_its_record() -> None:
    version, body = unframe("letters", KEY, LETTERS.encode(KEY, SAMPLE))
    assert version == 1
    assert msgspec.msgpack.decode(body)["to"] == "Ada"


def test_every_row_of_a_table_is_read_however_many_there_are() -> None:
    rows = StagedRows(MemoryDisk((LETTERS.name,)))
    keys = [number.to_bytes(4) for number in range(2 * CHUNK + 1)]
    for key in keys:
        rows.put(LETTERS, key, SAMPLE)
    assert [key for key, _ in every(rows, LETTERS)] == keys
