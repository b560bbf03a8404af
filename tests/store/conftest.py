"""Fixtures for the engines under test, each with a way to close it and open it again."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import msgspec
import pytest

from reliquary.base.rows import Table
from reliquary.store import Disk, MemoryDisk, RocksDisk

TABLES = ("letters", "numbers")


class Letter(msgspec.Struct, frozen=True, omit_defaults=True):
    text: str = ""


LETTERS = Table("letters", Letter)
NUMBERS = Table("numbers", Letter)


class Seeded:
    """Random bits from a seed, so that a run can be repeated."""

    def __init__(self, seed: int) -> None:
        self.bits = Random(seed).getrandbits


class Engine:
    """Opens one disk at a time, on the files of the last one."""

    name: str
    disk: Disk

    def reopen(self) -> Disk:
        raise NotImplementedError


class RocksEngine(Engine):
    name = "rocks"

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.disk = RocksDisk(folder, TABLES)

    def reopen(self) -> Disk:
        self.disk.close()
        self.disk = RocksDisk(self.folder, TABLES)
        return self.disk


class MemoryEngine(Engine):
    name = "memory"

    def __init__(self, _: Path) -> None:
        self.disk: MemoryDisk = MemoryDisk(TABLES)

    def reopen(self) -> Disk:
        self.disk.close()
        self.disk = self.disk.crash(Seeded(0))
        return self.disk


ENGINES: dict[str, Callable[[Path], Engine]] = {"rocks": RocksEngine, "memory": MemoryEngine}


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    with TemporaryDirectory() as folder:
        opened = ENGINES[request.param](Path(folder) / "store")
        yield opened
        opened.disk.close()


@pytest.fixture
def disk(engine: Engine) -> Disk:
    return engine.disk


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "store"
