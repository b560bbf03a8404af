"""Tests the promises of every storage engine, with one suite for all of them."""

from __future__ import annotations

from threading import Thread

import pytest

from reliquary.base.faults import UsageError
from reliquary.store import Changes, Disk
from tests.store.conftest import Engine

END = b"\xff"


def put(disk: Disk, *keys: bytes, table: str = "letters") -> None:
    disk.apply(Changes({table: {key: b"value of " + key for key in keys}}))


def keys(disk: Disk, first: bytes = b"", last: bytes = END, *, limit: int = 99, reverse: bool = False) -> str:
    rows = disk.range("letters", first, last, limit=limit, reverse=reverse)
    assert all(value == b"value of " + key for key, value in rows)
    return b" ".join(key for key, _ in rows).decode()


def test_what_is_applied_is_read_at_once(disk: Disk) -> None:
    put(disk, b"a")
    assert disk.get("letters", b"a") == b"value of a"
    assert keys(disk) == "a"


def test_a_row_that_is_not_there_is_none(disk: Disk) -> None:
    assert disk.get("letters", b"a") is None


def test_a_value_may_be_empty_and_is_not_none(disk: Disk) -> None:
    disk.apply(Changes({"letters": {b"a": b""}}))
    assert disk.get("letters", b"a") == b""


def test_a_later_batch_replaces_the_value_of_an_earlier_one(disk: Disk) -> None:
    put(disk, b"a")
    disk.apply(Changes({"letters": {b"a": b"new"}}))
    assert disk.get("letters", b"a") == b"new"


def test_a_none_deletes_the_row(disk: Disk) -> None:
    put(disk, b"a", b"b")
    disk.apply(Changes({"letters": {b"a": None}}))
    assert disk.get("letters", b"a") is None
    assert keys(disk) == "b"


def test_a_delete_of_what_is_not_there_is_no_error(disk: Disk) -> None:
    disk.apply(Changes({"letters": {b"a": None}}))
    assert keys(disk) == ""


def test_tables_do_not_share_rows(disk: Disk) -> None:
    put(disk, b"a", table="numbers")
    assert disk.get("letters", b"a") is None
    assert disk.get("numbers", b"a") is not None


def test_a_table_that_was_not_named_at_the_start_is_a_programming_error(disk: Disk) -> None:
    with pytest.raises(KeyError):
        disk.get("unheard of", b"a")
    with pytest.raises(KeyError):
        put(disk, b"a", table="unheard of")


@pytest.mark.parametrize(
    ("first", "last", "limit", "reverse", "expected"),
    [
        pytest.param(b"", END, 99, False, "a b ba c d", id="all, in the order of bytes"),
        pytest.param(b"", END, 99, True, "d c ba b a", id="all from the end"),
        pytest.param(b"b", b"d", 99, False, "b ba c", id="the first belongs to it, the last does not"),
        pytest.param(b"b", b"d", 99, True, "c ba b", id="the rows from the end"),
        pytest.param(b"b", END, 2, False, "b ba", id="a limit"),
        pytest.param(b"", b"d", 2, True, "c ba", id="a limit from the end"),
        pytest.param(b"b", b"d", 3, True, "c ba b", id="a limit that is just reached"),
        pytest.param(b"b", END, 0, False, "", id="a limit of nothing"),
        pytest.param(b"bb", b"bz", 99, False, "", id="between two rows"),
        pytest.param(b"bb", b"bz", 99, True, "", id="between two rows, from the end"),
        pytest.param(b"e", END, 99, False, "", id="behind all rows"),
        pytest.param(b"", b"a", 99, True, "", id="before all rows"),
        pytest.param(b"c", b"c", 99, False, "", id="an empty range"),
        pytest.param(b"d", b"a", 99, True, "", id="a range the wrong way round"),
    ],
)
def test_a_range_has_the_expected_rows(
    disk: Disk, first: bytes, last: bytes, limit: int, reverse: bool, expected: str
) -> None:
    put(disk, b"d", b"b", b"ba")
    put(disk, b"a", b"c")
    assert keys(disk, first, last, limit=limit, reverse=reverse) == expected


def test_a_deleted_range_ends_before_its_last_key(disk: Disk) -> None:
    put(disk, b"a", b"b", b"c", b"d")
    disk.apply(Changes(ranges=[("letters", b"b", b"d")]))
    assert keys(disk) == "a d"
    assert disk.get("letters", b"c") is None


def test_a_deleted_range_is_emptied_before_the_rows_of_its_batch_are_put(disk: Disk) -> None:
    put(disk, b"a", b"b")
    disk.apply(Changes({"letters": {b"b": b"value of b"}}, [("letters", b"a", b"c")]))
    assert keys(disk) == "b"


def test_rows_put_after_a_deleted_range_stay(disk: Disk) -> None:
    disk.apply(Changes(ranges=[("letters", b"a", b"c")]))
    put(disk, b"b")
    assert keys(disk) == "b"


def test_a_deleted_range_takes_rows_of_its_table_only(disk: Disk) -> None:
    put(disk, b"a", table="numbers")
    disk.apply(Changes(ranges=[("letters", b"", END)]))
    assert disk.get("numbers", b"a") is not None


def test_a_batch_with_a_mistake_in_it_changes_nothing(disk: Disk) -> None:
    with pytest.raises(KeyError):
        disk.apply(Changes({"letters": {b"a": b"value of a"}, "unheard of": {b"b": b""}}))
    assert keys(disk) == ""


def test_what_was_synced_is_there_after_a_reopen(engine: Engine) -> None:
    put(engine.disk, b"a", b"b")
    engine.disk.apply(Changes({"letters": {b"a": None}}))
    engine.disk.sync()
    assert keys(engine.reopen()) == "b"


def test_a_close_syncs(engine: Engine) -> None:
    put(engine.disk, b"a")
    assert keys(engine.reopen()) == "a"


def test_a_disk_can_be_opened_and_closed_many_times(engine: Engine) -> None:
    for turn in range(5):
        put(engine.disk, b"%d" % turn)
        engine.reopen()
    assert keys(engine.disk) == "0 1 2 3 4"


def test_a_second_close_does_nothing(disk: Disk) -> None:
    disk.close()
    disk.close()


def test_frozen_rows_stay_what_they_are_while_others_are_written(disk: Disk) -> None:
    put(disk, b"a", b"b", b"c")
    put(disk, b"a", table="numbers")
    frozen = disk.frozen()
    put(disk, b"d")
    disk.apply(Changes({"letters": {b"b": None, b"a": b"new"}}, [("numbers", b"", END)]))
    assert [key for key, _ in frozen.range("letters", b"", END, limit=9)] == [b"a", b"b", b"c"]
    assert [key for key, _ in frozen.range("letters", b"", END, limit=2, reverse=True)] == [b"c", b"b"]
    assert frozen.range("letters", b"", END, limit=0) == []
    assert (frozen.get("letters", b"a"), frozen.get("letters", b"d")) == (b"value of a", None)
    assert frozen.get("numbers", b"a") == b"value of a"
    assert keys(disk, b"c") == "c d"


def test_a_disk_can_be_closed_and_opened_while_frozen_rows_are_there(engine: Engine) -> None:
    put(engine.disk, b"a")
    frozen = engine.disk.frozen()
    assert keys(engine.reopen()) == "a"
    if engine.name == "rocks":
        with pytest.raises(UsageError):
            frozen.get("letters", b"a")


def test_a_closed_disk_refuses_all_work(disk: Disk) -> None:
    put(disk, b"a")
    disk.close()
    with pytest.raises(UsageError):
        disk.get("letters", b"a")
    with pytest.raises(UsageError):
        keys(disk)
    with pytest.raises(UsageError):
        put(disk, b"b")
    with pytest.raises(UsageError):
        disk.sync()
    with pytest.raises(UsageError):
        disk.frozen()


def test_a_sync_runs_in_another_thread_beside_applies_and_reads(engine: Engine) -> None:
    disk = engine.disk
    for turn in range(50):
        syncing = Thread(target=disk.sync)
        syncing.start()
        put(disk, b"%02d" % turn)
        assert keys(disk, b"%02d" % turn) == f"{turn:02}"
        syncing.join()
    assert len(engine.reopen().range("letters", b"", END, limit=99)) == 50


def test_changes_know_when_they_are_empty() -> None:
    assert Changes().is_empty
    assert Changes({"letters": {}}).is_empty
    assert not Changes({"letters": {b"a": None}}).is_empty
    assert not Changes(ranges=[("letters", b"a", b"b")]).is_empty
