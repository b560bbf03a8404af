"""Staged rows are visible at once and written together, over every engine."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, rule, run_state_machine_as_test

from reliquary.base.faults import StoreDamage
from reliquary.store import Changes, Disk, MemoryDisk, StagedRows
from tests.store.conftest import ENGINES, LETTERS, NUMBERS, TABLES, Engine, Letter

END = b"\xff"


@pytest.fixture
def rows(disk: Disk) -> StagedRows:
    """Return rows over a disk that holds b, d and f."""
    staged = StagedRows(disk)
    for key in (b"b", b"d", b"f"):
        staged.put(LETTERS, key, Letter("disk"))
    disk.apply(staged.take())
    return staged


def listed(
    rows: StagedRows, first: bytes = b"", last: bytes = END, *, limit: int = 99, reverse: bool = False
) -> str:
    found = rows.range(LETTERS, first, last, limit=limit, reverse=reverse)
    return " ".join(f"{key.decode()}={record.text}" for key, record in found)


def test_a_staged_row_is_seen_before_it_is_written(rows: StagedRows) -> None:
    rows.put(LETTERS, b"c", Letter("staged"))
    assert rows.get(LETTERS, b"c") == Letter("staged")
    assert listed(rows) == "b=disk c=staged d=disk f=disk"


def test_a_staged_row_hides_the_one_on_disk(rows: StagedRows) -> None:
    rows.put(LETTERS, b"d", Letter("staged"))
    assert rows.get(LETTERS, b"d") == Letter("staged")
    assert listed(rows) == "b=disk d=staged f=disk"


def test_a_staged_delete_hides_the_row_on_disk(rows: StagedRows) -> None:
    rows.delete(LETTERS, b"d")
    assert rows.get(LETTERS, b"d") is None
    assert listed(rows) == "b=disk f=disk"


def test_rows_that_are_hidden_do_not_count_for_the_limit(rows: StagedRows) -> None:
    rows.delete(LETTERS, b"b")
    rows.delete(LETTERS, b"d")
    assert listed(rows, limit=1) == "f=disk"
    rows.delete(LETTERS, b"f")
    rows.put(LETTERS, b"a", Letter("staged"))
    assert listed(rows, limit=1, reverse=True) == "a=staged"


def test_a_deleted_range_takes_staged_rows_and_those_on_disk(rows: StagedRows) -> None:
    rows.put(LETTERS, b"c", Letter("staged"))
    rows.delete_range(LETTERS, b"b", b"e")
    assert rows.get(LETTERS, b"c") is rows.get(LETTERS, b"d") is None
    assert listed(rows) == "f=disk"


def test_a_row_put_after_the_range_was_deleted_stays(rows: StagedRows, disk: Disk) -> None:
    rows.delete_range(LETTERS, b"b", b"e")
    rows.put(LETTERS, b"c", Letter("staged"))
    assert listed(rows) == "c=staged f=disk"
    disk.apply(rows.take())
    assert listed(rows) == "c=staged f=disk"


def test_a_deleted_range_lies_between_the_rows_of_both_ends(rows: StagedRows) -> None:
    rows.delete_range(LETTERS, b"c", b"e")
    assert listed(rows, limit=1) == "b=disk"
    assert listed(rows, limit=1, reverse=True) == "f=disk"
    assert listed(rows, reverse=True) == "f=disk b=disk"


def test_a_range_can_be_deleted_after_it_was_read(rows: StagedRows) -> None:
    rows.put(LETTERS, b"c", Letter("staged"))
    rows.put(LETTERS, b"g", Letter("staged"))
    assert listed(rows, b"c", b"d") == "c=staged"
    rows.delete_range(LETTERS, b"c", b"e")
    assert listed(rows) == "b=disk f=disk g=staged"


def test_tables_are_staged_apart(rows: StagedRows) -> None:
    rows.put(NUMBERS, b"b", Letter("staged"))
    rows.delete_range(NUMBERS, b"d", b"z")
    assert listed(rows) == "b=disk d=disk f=disk"


def test_a_limit_of_nothing_and_an_empty_range_have_no_rows(rows: StagedRows) -> None:
    rows.put(LETTERS, b"c", Letter("staged"))
    assert listed(rows, limit=0) == listed(rows, b"f", b"b") == listed(rows, b"c", b"c") == ""


def test_a_deleted_range_the_wrong_way_round_deletes_nothing(rows: StagedRows) -> None:
    rows.delete_range(LETTERS, b"f", b"b")
    assert rows.is_empty


def test_take_encodes_everything_and_empties(rows: StagedRows) -> None:
    rows.delete_range(LETTERS, b"x", b"z")
    rows.put(LETTERS, b"a", Letter("first"))
    rows.put(LETTERS, b"a", Letter("second"))
    rows.delete(LETTERS, b"b")
    assert rows.take() == Changes(
        {"letters": {b"a": LETTERS.encode(b"a", Letter("second")), b"b": None}}, [("letters", b"x", b"z")]
    )
    assert rows.is_empty
    assert rows.take().is_empty


def test_staged_rows_are_empty_until_something_is_staged(rows: StagedRows) -> None:
    before = rows.is_empty
    rows.delete(LETTERS, b"b")
    assert (before, rows.is_empty) == (True, False)


def test_a_fresh_row_that_is_deleted_leaves_no_trace(rows: StagedRows) -> None:
    rows.put(LETTERS, b"c", Letter("staged"), fresh=True)
    assert listed(rows, limit=2) == "b=disk c=staged"  # also when the order of the keys is known
    rows.delete(LETTERS, b"c")
    assert rows.is_empty
    assert listed(rows) == "b=disk d=disk f=disk"
    assert rows.take().is_empty


def test_a_row_that_may_be_on_disk_leaves_its_delete(rows: StagedRows) -> None:
    rows.put(LETTERS, b"d", Letter("staged"))
    rows.delete(LETTERS, b"d")
    assert rows.take() == Changes({"letters": {b"d": None}})


def test_a_row_that_was_deleted_and_comes_back_as_fresh_is_still_deleted_on_disk(rows: StagedRows) -> None:
    rows.delete(LETTERS, b"d")
    rows.put(LETTERS, b"d", Letter("staged"), fresh=True)
    rows.delete(LETTERS, b"d")
    assert rows.take() == Changes({"letters": {b"d": None}})


def test_a_row_is_fresh_in_one_batch_only(rows: StagedRows, disk: Disk) -> None:
    rows.put(LETTERS, b"c", Letter("staged"), fresh=True)
    disk.apply(rows.take())
    rows.delete(LETTERS, b"c")
    assert rows.take() == Changes({"letters": {b"c": None}})


def test_a_fresh_row_in_a_deleted_range_is_forgotten(rows: StagedRows) -> None:
    rows.put(LETTERS, b"c", Letter("staged"), fresh=True)
    rows.delete_range(LETTERS, b"a", b"e")
    rows.put(LETTERS, b"c", Letter("again"))
    rows.delete(LETTERS, b"c")
    assert rows.take() == Changes({"letters": {b"c": None}}, [("letters", b"a", b"e")])


class Counting(MemoryDisk):
    """A disk that counts the rows it hands out."""

    handed_out = 0

    def range(
        self, table: str, first: bytes, last: bytes, *, limit: int, reverse: bool = False
    ) -> list[tuple[bytes, bytes]]:
        found = super().range(table, first, last, limit=limit, reverse=reverse)
        self.handed_out += len(found)
        return found


@pytest.mark.parametrize("reverse", [False, True])
def test_rows_in_a_deleted_range_are_not_even_read(reverse: bool) -> None:
    disk = Counting(TABLES)
    rows = StagedRows(disk)
    for number in range(1000):
        rows.put(LETTERS, b"%03d" % number, Letter())
    disk.apply(rows.take())
    rows.delete_range(LETTERS, b"001", b"999")
    assert len(rows.range(LETTERS, b"", END, limit=10, reverse=reverse)) == 2
    assert disk.handed_out == 2


def test_a_rotten_row_is_found_by_get_and_range() -> None:
    disk = MemoryDisk(TABLES)
    rows = StagedRows(disk)
    rows.put(LETTERS, b"a", Letter("sound"))
    disk.apply(rows.take())
    disk.flip_bit("letters", b"a", 77)
    with pytest.raises(StoreDamage):
        rows.get(LETTERS, b"a")
    with pytest.raises(StoreDamage):
        listed(rows)


KEYS = st.sampled_from([b"a", b"b", b"ba", b"c", b"d", b"e", b"f", b"fa", b"g"])
ENDS = st.just((b"", END)) | st.tuples(KEYS, KEYS).map(lambda ends: (min(ends), max(ends)))
TEXTS = st.sampled_from(["", "x", "y"])


class StagedRowsAgainstADict(RuleBasedStateMachine):
    """Whatever is staged, taken, applied and reopened: the rows answer as a dict would."""

    engine_name: str

    def __init__(self) -> None:
        super().__init__()
        self.place = TemporaryDirectory()
        self.engine: Engine = ENGINES[self.engine_name](Path(self.place.name) / "store")
        self.rows = StagedRows(self.engine.disk)
        self.model: dict[bytes, Letter] = {}
        for key in (b"a", b"b", b"c", b"e", b"f", b"g"):
            self.put(key, "disk", sure=False)
        self.apply()

    def teardown(self) -> None:
        self.engine.disk.close()
        self.place.cleanup()

    @rule(key=KEYS, text=TEXTS, sure=st.booleans())
    def put(self, key: bytes, text: str, sure: bool) -> None:
        self.rows.put(LETTERS, key, Letter(text), fresh=sure and key not in self.model)
        self.model[key] = Letter(text)

    @rule(key=KEYS)
    def delete(self, key: bytes) -> None:
        self.rows.delete(LETTERS, key)
        self.model.pop(key, None)

    @rule(ends=ENDS)
    def delete_range(self, ends: tuple[bytes, bytes]) -> None:
        self.rows.delete_range(LETTERS, *ends)
        self.model = {key: record for key, record in self.model.items() if not ends[0] <= key < ends[1]}

    @rule()
    def apply(self) -> None:
        self.engine.disk.apply(self.rows.take())

    @rule()
    def reopen(self) -> None:
        self.apply()
        self.rows = StagedRows(self.engine.reopen())

    @rule(key=KEYS)
    def get(self, key: bytes) -> None:
        assert self.rows.get(LETTERS, key) == self.model.get(key)

    @rule(ends=ENDS)
    def range(self, ends: tuple[bytes, bytes]) -> None:
        expected = sorted(row for row in self.model.items() if ends[0] <= row[0] < ends[1])
        for limit in (1, 2, 4, 99):
            assert self.rows.range(LETTERS, *ends, limit=limit) == expected[:limit]
            assert self.rows.range(LETTERS, *ends, limit=limit, reverse=True) == expected[::-1][:limit]


@pytest.mark.parametrize(("name", "examples"), [("memory", 150), ("rocks", 20)])
def test_staged_rows_answer_as_a_dict_would(name: str, examples: int) -> None:
    machine = type("Machine", (StagedRowsAgainstADict,), {"engine_name": name})
    run_state_machine_as_test(machine, settings=settings(max_examples=examples, stateful_step_count=40))
