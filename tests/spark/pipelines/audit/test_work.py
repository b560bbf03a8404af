"""Tests work that Spark spreads: each file once, each item once, and refusals as they are."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit.work import RECORDS, NamedBytes, SparkWork
from tests.spark.pipelines.audit.world import World, write

if TYPE_CHECKING:
    from pyspark.sql import SparkSession


def sizes(files: NamedBytes) -> Iterator[bytes]:
    for name, data in files:
        yield f"{name.rpartition('/')[2]} {data.size}".encode()


def doubled(number: int) -> bytes:
    if number < 0:
        raise UsageError(f"{number} is too small")
    return str(2 * number).encode()


def test_every_file_is_read_once_whatever_its_name(spark: SparkSession, tmp_path: Path) -> None:
    folder = tmp_path / "a b%20c"
    files = write(folder, World(51, messages=10).rows(), files=3)
    work = SparkWork(spark)
    before = spark.conf.get(RECORDS)
    result = work.read(work.files([str(tmp_path / "*")]), sizes)
    assert sorted(result) == sorted(f"{file.name} {file.stat().st_size}".encode() for file in files)
    assert spark.conf.get(RECORDS) == before


def test_every_item_is_done_once(spark: SparkSession) -> None:
    work = SparkWork(spark)
    assert sorted(map(int, work.each(range(300), doubled))) == list(range(0, 600, 2))
    assert work.each([7], doubled) == [b"14"]
    assert work.each([], doubled) == []


def test_a_refusal_in_a_task_is_the_refusal_of_all(spark: SparkSession) -> None:
    with pytest.raises(UsageError, match=r"^-3 is too small$"):
        SparkWork(spark).each([1, 2, -3], doubled)
