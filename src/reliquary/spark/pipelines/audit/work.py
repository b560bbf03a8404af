"""Spreads the work of an audit over the tasks of Spark.

    read(files)   --> each file once; Spark reads its bytes from any place
    each(items)   --> each item once, in some task

What is done is a function of this package; it returns bytes.  An item that is refused returns a sentence,
and the audit ends with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar
from urllib.parse import unquote

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.base.faults import UsageError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

TASKS: Final = 128
"""The largest number of tasks of a job."""
RECORDS: Final = "spark.sql.execution.arrow.maxRecordsPerBatch"
Item = TypeVar("Item")
NamedBytes = Iterable[tuple[str, pa.Buffer]]
Reader = Callable[[NamedBytes], Iterator[bytes]]
"""The type of a function that takes files with their names, and returns bytes."""


class Work(Protocol):
    """Performs the work of an audit."""

    def files(self, folders: Sequence[str]) -> list[str]:
        """Return all files of these folders."""

    def read(self, files: Sequence[str], reader: Reader) -> list[bytes]:
        """Return the results of a reader for these files."""

    def each(self, items: Sequence[Item], done: Callable[[Item], bytes]) -> list[bytes]:
        """Return the results of a function for each item, in any order."""


class SparkWork:
    """Work that the tasks of a Spark session do."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def files(self, folders: Sequence[str]) -> list[str]:
        """Return all files of these folders."""
        from pyspark.errors import AnalysisException

        found: set[str] = set()
        for folder in folders:
            try:
                listed = self._spark.read.schema("event_id bigint").parquet(folder).inputFiles()
                found.update(map(unquote, listed))  # Spark lists addresses, and takes names
            except AnalysisException as why:
                raise UsageError(f"there is no history in {folder}: {why.getCondition() or why}") from why
        return sorted(found)

    def read(self, files: Sequence[str], reader: Reader) -> list[bytes]:
        """Return the results of a reader for these files; one file at a time is in memory."""
        with self._one_by_one():
            content = self._spark.read.format("binaryFile").load(list(files)).select("path", "content")
            return _results_of(content.mapInArrow(partial(_read, reader), "result binary"))

    def each(self, items: Sequence[Item], done: Callable[[Item], bytes]) -> list[bytes]:
        """Return the results of a function for each item; a single item needs no job."""
        if len(items) < 2:
            return [done(item) for item in items]
        count = min(len(items), TASKS)
        shares = [items[number::count] for number in range(count)]
        return _results_of(
            self._spark.range(0, count, 1, count).mapInArrow(partial(_each, shares, done), "result binary")
        )

    @contextmanager
    def _one_by_one(self) -> Iterator[None]:
        before = self._spark.conf.get(RECORDS) or "10000"
        self._spark.conf.set(RECORDS, "1")
        try:
            yield
        finally:
            self._spark.conf.set(RECORDS, before)


_DONE: Final = b"+"
_REFUSED: Final = b"-"


def _read(reader: Reader, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    return _answers(
        reader(
            (batch.column("path")[row].as_py(), batch.column("content")[row].as_buffer())
            for batch in batches
            for row in range(len(batch))
        )
    )


def _each(
    shares: Sequence[Sequence[Any]], done: Callable[[Any], bytes], batches: Iterable[pa.RecordBatch]
) -> Iterator[pa.RecordBatch]:
    return _answers(
        done(item) for batch in batches for number in batch.column(0).to_pylist() for item in shares[number]
    )


def _answers(results: Iterable[bytes]) -> Iterator[pa.RecordBatch]:
    try:
        for each in results:
            yield pa.record_batch({"result": pa.array([_DONE + each], pa.binary())})
    except UsageError as why:
        yield pa.record_batch({"result": pa.array([_REFUSED + str(why).encode()], pa.binary())})


def _results_of(frame: Any) -> list[bytes]:
    answers = [bytes(each) for each in frame.toArrow().column("result").to_pylist()]
    for answer in answers:
        if answer[:1] == _REFUSED:
            raise UsageError(answer[1:].decode())
    return [answer[1:] for answer in answers]
