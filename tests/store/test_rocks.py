"""Tests RocksDB: what only a disk of files can suffer."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from rocksdict import ReadOptions

from reliquary.base.faults import StoreDamage, StoreFailure
from reliquary.store import Changes, RocksDisk, rocks, tables_in
from reliquary.store.format import VERSION
from reliquary.store.mark import read_mark
from tests.store.conftest import TABLES

END = b"\xff"


def put(disk: RocksDisk, *keys: bytes, size: int = 100) -> None:
    disk.apply(Changes({"letters": {key: os.urandom(size) for key in keys}}))


def delete(disk: RocksDisk, *keys: bytes) -> None:
    disk.apply(Changes({"letters": dict.fromkeys(keys)}))


def keys(disk: RocksDisk, first: bytes = b"", last: bytes = END, **how: Any) -> list[bytes]:
    return [key for key, _ in disk.range("letters", first, last, **{"limit": 1_000_000, **how})]


def kind_of_failure(folder: Path, tables: tuple[str, ...] = TABLES) -> str:
    with pytest.raises(StoreFailure, match=str(folder)) as failure:
        RocksDisk(folder, tables)
    return failure.value.kind


@pytest.fixture
def disk(folder: Path) -> Iterator[RocksDisk]:
    opened = RocksDisk(folder, TABLES)
    yield opened
    opened.close()


# Who may open it


def test_a_table_that_a_release_adds_is_created(folder: Path) -> None:
    RocksDisk(folder, TABLES).close()
    RocksDisk(folder, (*TABLES, "streams")).close()
    assert sorted(tables_in(folder)) == sorted((*TABLES, "streams"))


def test_a_store_with_a_table_of_a_later_release_is_newer(folder: Path) -> None:
    RocksDisk(folder, (*TABLES, "streams")).close()
    assert kind_of_failure(folder) == "newer"


def test_a_store_of_a_newer_version_is_newer(folder: Path) -> None:
    RocksDisk(folder, TABLES).close()
    (folder / "FORMAT").write_text(f"reliquary store {VERSION + 1}\n")
    assert kind_of_failure(folder) == "newer"


def test_a_second_process_finds_the_folder_locked(disk: RocksDisk) -> None:
    script = (
        "import sys; from reliquary.store import RocksDisk; from reliquary.base.faults import StoreFailure\n"
        f"try: RocksDisk(sys.argv[1], {TABLES})\n"
        "except StoreFailure as why: print(why.kind, why)"
    )
    second = subprocess.run(
        [sys.executable, "-c", script, str(disk.folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert second.stdout.startswith(f"locked {disk.folder} is in use by another process")
    put(disk, b"a")
    assert keys(disk) == [b"a"]


def test_a_second_disk_in_one_process_finds_it_locked_until_the_first_is_closed(disk: RocksDisk) -> None:
    assert kind_of_failure(disk.folder) == "locked"
    disk.close()
    RocksDisk(disk.folder, TABLES).close()


@pytest.fixture
def no_reader() -> Iterator[None]:
    """Run the block as another user, because root may do everything."""
    mine = os.geteuid()
    if mine == 0:
        os.seteuid(65534)
    yield
    os.seteuid(mine)


@pytest.mark.parametrize("mode", [0o000, 0o555])
@pytest.mark.parametrize("existing", [True, False])
def test_a_folder_that_one_may_not_use_is_a_missing_permission(
    mode: int, existing: bool, request: pytest.FixtureRequest
) -> None:
    with TemporaryDirectory() as place:
        folder = Path(place) / "store"
        if existing:
            RocksDisk(folder, TABLES).close()
            for file in folder.iterdir():
                file.chmod(0o444)
        else:
            folder.mkdir()
        Path(place).chmod(0o755)
        folder.chmod(mode)
        request.getfixturevalue("no_reader")
        try:
            assert kind_of_failure(folder) == "permission"
        finally:
            os.seteuid(os.getuid())
            folder.chmod(0o755)


# A failed write


class Broken:
    """A database whose log cannot be synced or written any more."""

    def __init__(self, db: object, why: str) -> None:
        self._db = db
        self._why = why

    def __getattr__(self, name: str) -> object:
        return getattr(self._db, name)

    def flush_wal(self, *_: object) -> None:
        raise Exception(self._why)  # as the binding does

    write = flush_wal


@pytest.mark.parametrize("step", ["sync", "apply"])
@pytest.mark.parametrize(
    ("why", "kind"), [("IO error: Input/output error", "io"), ("IO error: No space left on device", "full")]
)
def test_after_a_failed_write_the_disk_refuses_all_work_and_releases_the_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch, step: str, why: str, kind: str
) -> None:
    disk = RocksDisk(folder, TABLES)
    put(disk, b"safe")
    disk.sync()
    sound = disk._db
    monkeypatch.setattr(disk, "_db", Broken(sound, why))
    work: dict[str, Callable[[], object]] = {
        "sync": disk.sync,
        "apply": lambda: put(disk, b"b"),
        "get": lambda: disk.get("letters", b"a"),
        "range": lambda: keys(disk),
    }
    with pytest.raises(StoreFailure, match=str(folder)):
        work[step]()
    monkeypatch.setattr(disk, "_db", sound)  # even when the disk would work again
    for attempt in work.values():
        with pytest.raises(StoreFailure, match="no work after a failed write") as failure:
            attempt()
        assert failure.value.kind == kind
    disk.close()
    again = RocksDisk(folder, TABLES)
    assert keys(again) == [b"safe"]
    again.close()


def test_the_mark_moves_after_the_log_has_been_synced_and_not_before(
    disk: RocksDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mark that is ahead of the log would call every power cut damage."""
    put(disk, b"safe")
    disk.sync()
    before = read_mark(disk.folder)
    assert before is not None
    put(disk, b"on its way")
    during = []

    class Watched(Broken):
        def flush_wal(self, *how: object) -> None:
            during.append(read_mark(disk.folder))
            sound.flush_wal(*how)

    sound: Any = disk._db
    with monkeypatch.context() as patch:
        patch.setattr(disk, "_db", Watched(sound, ""))
        disk.sync()
    after = read_mark(disk.folder)
    assert after is not None
    assert during == [before]
    assert (before.synced, after.synced) == (1, 2)
    put(disk, b"never safe")
    monkeypatch.setattr(disk, "_db", Broken(sound, "IO error: Input/output error"))
    with pytest.raises(StoreFailure):
        disk.sync()
    assert read_mark(disk.folder) == after


def test_what_is_applied_while_the_log_is_synced_is_not_called_safe(
    disk: RocksDisk, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(disk, b"a")

    class Interrupted(Broken):
        def flush_wal(self, *how: object) -> None:
            sound.flush_wal(*how)
            sound.write(disk._batch(Changes({"letters": {b"b": b""}})))

    sound: Any = disk._db
    with monkeypatch.context() as patch:
        patch.setattr(disk, "_db", Interrupted(sound, ""))
        disk.sync()
    found = read_mark(disk.folder)
    assert found is not None
    assert found.synced == 1


def test_a_write_that_the_system_refuses_loses_nothing_safe_and_gives_the_folder_free(folder: Path) -> None:
    """A real refusal: the process may not make files beyond a size."""
    script = f"""
import resource, sys
from reliquary.base.faults import StoreFailure
from reliquary.store import Changes, RocksDisk
disk = RocksDisk(sys.argv[1], {TABLES})
free = resource.getrlimit(resource.RLIMIT_FSIZE)
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, free[1]))
for number in range(1000):
    try:
        disk.apply(Changes({{"letters": {{b"%04d" % number: bytes(10_000)}}}}))
        disk.sync()
    except StoreFailure as why:
        failure = why
        break
disk.close()
resource.setrlimit(resource.RLIMIT_FSIZE, free)
disk = RocksDisk(sys.argv[1], {TABLES})
kept = [key for key, _ in disk.range("letters", b"", b"x", limit=1000)]
print(failure.kind, number, kept == [b"%04d" % safe for safe in range(number)])
"""
    run = subprocess.run(
        [sys.executable, "-c", script, str(folder)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    kind, safe, kept = run.stdout.split()
    assert (kind, kept) == ("io", "True")
    assert int(safe) > 50


# A damaged file


def log_of(folder: Path) -> Path:
    return max(folder.glob("*.log"))


def crashed(disk: RocksDisk, folder: Path) -> Path:
    """Return what a crash leaves: the files as they are while the process still runs."""
    shutil.copytree(disk.folder, folder)
    return folder


@pytest.fixture
def after_a_crash(disk: RocksDisk, tmp_path: Path) -> tuple[Path, int]:
    """Return a store with 50 synced batches and one unsynced, and where the synced ones end in the log."""
    for number in range(50):
        put(disk, b"%02d" % number, size=1000)
    disk.sync()
    synced = log_of(disk.folder).stat().st_size
    disk.apply(Changes({"letters": {b"x": os.urandom(50_000), b"y": b""}}))
    return crashed(disk, tmp_path / "crashed"), synced


SYNCED = [b"%02d" % number for number in range(50)]


def test_a_crash_keeps_all_when_the_kernel_has_it(after_a_crash: tuple[Path, int]) -> None:
    disk = RocksDisk(after_a_crash[0], TABLES)
    assert keys(disk) == [*SYNCED, b"x", b"y"]
    disk.close()


@pytest.mark.parametrize(
    "tear",
    [
        pytest.param(lambda log, synced: log[:synced], id="cut off where the synced part ends"),
        pytest.param(lambda log, synced: log[: synced + 3], id="cut in the header of a record"),
        pytest.param(lambda log, synced: log[: synced + 20_000], id="cut in the middle of a record"),
        pytest.param(lambda log, synced: log[:-1], id="one byte is missing"),
        pytest.param(lambda log, synced: log[:-9_000] + bytes(9_000), id="the last pages are zeros"),
        pytest.param(
            lambda log, synced: log[: synced + 8_000] + bytes(4_096) + log[synced + 12_096 :],
            id="a page in the middle was not written",
        ),
        pytest.param(lambda log, synced: log[:synced] + bytes(60_000), id="only the size was written"),
        pytest.param(lambda log, synced: log[:synced] + b"\x5a" * 60_000, id="old blocks of another file"),
    ],
)
def test_a_torn_end_of_the_log_opens_with_everything_that_was_synced(
    after_a_crash: tuple[Path, int], tear: Callable[[bytes, int], bytes]
) -> None:
    folder, synced = after_a_crash
    log = log_of(folder)
    log.write_bytes(tear(log.read_bytes(), synced))
    disk = RocksDisk(folder, TABLES)
    assert keys(disk) == SYNCED
    put(disk, b"z")
    disk.close()
    again = RocksDisk(folder, TABLES)
    assert keys(again) == [*SYNCED, b"z"]
    again.close()


def flipped(content: bytes, place: int) -> bytes:
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda log, synced: flipped(log, synced // 2), id="a bit in the middle"),
        pytest.param(lambda log, synced: flipped(log, synced - 9), id="a bit in the last synced batch"),
        pytest.param(lambda log, synced: log[: synced - 9], id="the last synced batch is cut"),
        pytest.param(lambda log, synced: b"", id="the log is empty"),
    ],
)
def test_damage_in_the_synced_part_of_the_log_is_found_and_nothing_is_touched(
    after_a_crash: tuple[Path, int], spoil: Callable[[bytes, int], bytes]
) -> None:
    folder, synced = after_a_crash
    log = log_of(folder)
    spoilt = spoil(log.read_bytes(), synced)
    log.write_bytes(spoilt)
    for _ in range(2):
        with pytest.raises(StoreDamage, match=str(folder)):
            RocksDisk(folder, TABLES)
    if spoilt:
        assert log.read_bytes() == spoilt


def test_a_missing_log_is_found(after_a_crash: tuple[Path, int]) -> None:
    log_of(after_a_crash[0]).unlink()
    with pytest.raises(StoreDamage):
        RocksDisk(after_a_crash[0], TABLES)


@pytest.fixture
def with_sorted_files(folder: Path) -> Path:
    """Return a closed store whose rows have left the log for a sorted file."""
    disk = RocksDisk(folder, TABLES)
    put(disk, *(b"%04d" % number for number in range(2000)), size=500)
    disk.close()
    RocksDisk(folder, TABLES).close()
    return folder


def largest_sorted_file(folder: Path) -> Path:
    return max(folder.glob("*.sst"), key=lambda file: file.stat().st_size)


def test_a_flipped_bit_in_a_sorted_file_is_found_by_every_way_of_reading(with_sorted_files: Path) -> None:
    file = largest_sorted_file(with_sorted_files)
    file.write_bytes(flipped(file.read_bytes(), file.stat().st_size // 2))
    disk = RocksDisk(with_sorted_files, TABLES)
    with pytest.raises(StoreDamage, match=str(with_sorted_files)):
        keys(disk)
    with pytest.raises(StoreDamage):
        keys(disk, reverse=True)
    with pytest.raises(StoreDamage):
        [disk.get("letters", b"%04d" % number) for number in range(2000)]
    disk.close()


@pytest.mark.parametrize("name", ["CURRENT", "MANIFEST-*", "*.sst"])
@pytest.mark.parametrize(
    "spoil",
    [
        pytest.param(lambda file: file.write_bytes(b""), id="empty"),
        pytest.param(lambda file: file.unlink(), id="gone"),
        pytest.param(lambda file: file.write_bytes(flipped(file.read_bytes(), 5)), id="a bit flipped"),
    ],
)
def test_a_file_that_is_spoilt_is_found(
    with_sorted_files: Path, name: str, spoil: Callable[[Path], object]
) -> None:
    spoil(max(with_sorted_files.glob(name)))
    with pytest.raises(StoreDamage):
        keys(RocksDisk(with_sorted_files, TABLES))


# Tombstones


@pytest.fixture(params=["in memory", "in files"])
def between_tombstones(request: pytest.FixtureRequest, folder: Path) -> Iterator[RocksDisk]:
    """Yield queue b, three rows left of a thousand, between two queues of which nothing is left."""
    disk = RocksDisk(folder, TABLES)
    gone = [b"%c%06d" % (queue, number) for queue in b"ac" for number in range(100_000)]
    taken = [b"b%06d" % number for number in range(1000)]
    put(disk, *gone, *taken, b"b900000", b"b900001", b"b900002", size=8)
    delete(disk, *gone, *taken)
    if request.param == "in files":
        disk.close()
        disk = RocksDisk(folder, TABLES)
    yield disk
    disk.close()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every read fail that skips more than ten tombstones."""
    real = rocks._checked_reads

    def checked_reads(*, before: bytes | None = None, patience: int = 0) -> ReadOptions:
        return real(before=before, patience=10)

    monkeypatch.setattr(rocks, "_checked_reads", checked_reads)


LEFT = [b"b900000", b"b900001", b"b900002"]


@pytest.mark.usefixtures("impatient")
def test_a_read_from_the_known_head_walks_over_no_tombstones(between_tombstones: RocksDisk) -> None:
    assert keys(between_tombstones, b"b900000", b"c") == LEFT
    assert keys(between_tombstones, b"b900000", b"c", limit=1) == LEFT[:1]
    assert keys(between_tombstones, b"b900003", b"c") == []


@pytest.mark.usefixtures("impatient")
def test_a_read_from_the_end_does_not_walk_into_the_queue_before(between_tombstones: RocksDisk) -> None:
    assert keys(between_tombstones, b"b900000", b"b900003", reverse=True) == LEFT[::-1]
    assert keys(between_tombstones, b"b9", b"b900003", reverse=True) == LEFT[::-1]
    assert keys(between_tombstones, b"b9", b"b900003", limit=1, reverse=True) == LEFT[:1:-1]


@pytest.mark.usefixtures("impatient")
def test_the_two_tests_above_would_notice_a_walk(folder: Path) -> None:
    disk = RocksDisk(folder, TABLES)
    rows = [b"a%03d" % number for number in range(100)]
    put(disk, *rows, b"b")
    delete(disk, *rows)
    with pytest.raises(StoreFailure, match="Too many internal keys skipped"):
        keys(disk, b"a", b"c")
    disk.close()


def test_a_read_from_the_end_of_an_empty_queue_is_empty(between_tombstones: RocksDisk) -> None:
    assert keys(between_tombstones, b"c", b"d", reverse=True) == []
    assert keys(between_tombstones, b"b", b"c", reverse=True) == LEFT[::-1]


# Room


def test_reclaim_gives_back_the_room_of_rows_that_were_deleted(disk: RocksDisk) -> None:
    rows = [b"%04d" % number for number in range(2000)]
    put(disk, *rows, size=5000)
    disk.reclaim()
    assert _sorted_bytes(disk) > 9_000_000
    delete(disk, *rows)
    disk.reclaim()
    while _sorted_bytes(disk) > 100_000:  # RocksDB does it in the background
        os.sched_yield()
    assert keys(disk) == []


def test_reclaim_does_nothing_where_nothing_changed_or_all_is_closed(disk: RocksDisk) -> None:
    put(disk, b"a")
    disk.reclaim()
    before = sorted(disk.folder.glob("*.sst"))
    disk.reclaim()
    assert sorted(disk.folder.glob("*.sst")) == before
    disk.close()
    disk.reclaim()


def _sorted_bytes(disk: RocksDisk) -> int:
    size = 0
    for file in disk.folder.glob("*.sst"):
        with suppress(FileNotFoundError):
            size += file.stat().st_size
    return size
