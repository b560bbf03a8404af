"""Converts a file of the history to numbers: traces of its messages, and a survey of its events.

    Parquet bytes --> columns of codes --> one lookup a word --> numbers --> traces
                                                      '--> blocks of event numbers, names of queues

A column of words is read as codes into a short list of words, as in the file.  The meaning of a word is
looked up once for each word of that list, and never for each event.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any, Final
from uuid import UUID

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit import masks
from reliquary.spark.pipelines.audit.arrays import (
    NEUTRAL,
    NEVER,
    NONE,
    Bools,
    Ints,
    Table,
    filled,
    grouped,
    hashed,
    mixed,
)
from reliquary.spark.pipelines.audit.coverage import SIZE, Block, Survey, TracedQueue
from reliquary.spark.pipelines.audit.masks import EVENT_NAMES, bit
from reliquary.spark.pipelines.audit.traces import COLUMNS, ENTRIES
from reliquary.wire.history import VERSION

WORDS: Final = (
    "event", "manager", "manager_name", "queue", "queue_kind", "stream", "transaction", "reason", "protocol",
    "batch",
)  # fmt: skip
NUMBERS: Final = (
    "version", "event_id", "time", "message", "lookup_id", "deadline", "stream_number", "durable",
)  # fmt: skip
READ: Final = (*WORDS, *NUMBERS, "message_id")
"""The columns of the history that the audit reads."""
AT_ONCE: Final = 1 << 16
"""The most events that are in memory at a time."""

POSITIVE: Final = {"ack-reach-queue": masks.REACHED, "ack-receive": masks.READ}
"""Reasons of acknowledgements that report a success."""

_CODES: Final = {name: number for number, name in enumerate(EVENT_NAMES, 1)}
_GAP: Final = _CODES["gap"]
_MOVED: Final = _CODES["moved"]
_MICROS: Final = pa.timestamp("us", tz="UTC")
_LINEAGE: Final = 36
"""The number of characters of a GUID."""


def traces_of(data: pa.Buffer, name: str) -> Iterator[tuple[Table, Survey]]:
    """Yield the traces of the messages in a file, and the survey of its events, piece by piece."""
    for batch in _batches(data, name):
        events = _Events(batch, name)
        yield events.traces(), events.survey()


def _batches(data: pa.Buffer, name: str) -> Iterator[pa.RecordBatch]:
    try:
        names = pq.read_schema(pa.BufferReader(data)).names
        if not {"manager", "event", "event_id", "time"} <= {*names}:
            raise UsageError(f"some files are no history: {name} has no column `manager`")
        words = [column for column in WORDS if column in names]
        with pq.ParquetFile(pa.BufferReader(data), read_dictionary=words) as file:
            columns = [column for column in READ if column in names]
            yield from file.iter_batches(AT_ONCE, columns=columns, use_threads=False)
    except pa.ArrowInvalid as why:
        raise UsageError(f"some files are no history: {name} cannot be read ({why})") from why


class _Events:
    """Events as columns of numbers."""

    def __init__(self, batch: pa.RecordBatch, name: str) -> None:
        self.batch = batch
        self.name = name
        self.count = len(batch)
        self._words: dict[str, tuple[Ints, list[str]]] = {}
        self.event_id = self._number("event_id", 0)
        self.at = self._number("time", NONE)
        self.code = self.mapped("event", lambda word: _CODES.get(word or "", 0))
        self.manager = self.mapped("manager", lambda word: hashed(word) if word else 0)
        if not self.manager.all():
            raise UsageError(f"some files are no history: {name} has nothing in the column `manager`")

    # -- columns

    def mapped(self, column: str, meaning: Callable[[str | None], int]) -> Ints:
        """Return the meaning of a word for each event, looked up once for each word; None for no word."""
        codes, words = self._coded(column)
        if not words:
            return filled(self.count, meaning(None))
        return np.array([*map(meaning, words), meaning(None)], np.int64)[codes]

    def _coded(self, column: str) -> tuple[Ints, list[str]]:
        """Return the codes of a column, -1 for none, and their words."""
        if column not in self._words:
            if column in self.batch.schema.names:
                array = self.batch.column(column)
                if not pa.types.is_dictionary(array.type):
                    array = array.dictionary_encode()
                codes = np.asarray(array.indices.fill_null(-1)).astype(np.int64)
                self._words[column] = codes, array.dictionary.to_pylist()
            else:
                self._words[column] = filled(self.count, -1), []
        return self._words[column]

    def _number(self, column: str, none: int) -> Ints:
        if column not in self.batch.schema.names:
            return filled(self.count, none)
        array = self.batch.column(column)
        if pa.types.is_timestamp(array.type):
            array = array.cast(_MICROS)
        return np.asarray(array.cast(pa.int64()).fill_null(none))

    def _is_known(self, column: str) -> Bools:
        if column not in self.batch.schema.names:
            return np.zeros(self.count, np.bool_)
        return np.asarray(self.batch.column(column).is_valid())

    def _identifiers(self) -> dict[str, Ints]:
        """Return the GUID, as two numbers, and the number of each message identifier."""
        columns = {name: filled(self.count, NONE) for name in ("id_high", "id_low", "id_number")}
        if "message_id" not in self.batch.schema.names:
            return columns
        array = self.batch.column("message_id")
        there = np.asarray(array.is_valid())
        words = array.drop_null()
        if not len(words):
            return columns
        try:
            numbers = pc.utf8_slice_codeunits(words, _LINEAGE + 1, None).cast(pa.int64())
            lineages = pc.utf8_slice_codeunits(words, 0, _LINEAGE).dictionary_encode()
            guids = [UUID(each).int for each in lineages.dictionary.to_pylist()]
        except (pa.ArrowInvalid, ValueError) as why:
            raise UsageError(f"some files are no history: {self.name} has a bad message_id ({why})") from why
        codes = np.asarray(lineages.indices)
        columns["id_high"][there] = _signed([guid >> 64 for guid in guids])[codes]
        columns["id_low"][there] = _signed([guid & (1 << 64) - 1 for guid in guids])[codes]
        columns["id_number"][there] = np.asarray(numbers)
        return columns

    # -- what there is

    def survey(self) -> Survey:
        """Return the blocks of these events, and the names in them."""
        newest = int(self._number("version", VERSION).max()) if self.count else VERSION
        if newest > VERSION:
            raise UsageError(
                f"a history of version {newest} was written by a newer release: this one reads {VERSION}"
            )
        managers = self._names("manager", "manager_name")
        names: dict[str, str] = {}
        for manager, called in managers:
            names[manager] = max(names.get(manager, ""), called)
        return Survey(tuple(self._blocks()), tuple(self._places(names)))

    def _names(self, *columns: str) -> set[tuple[str, ...]]:
        """Return the combinations of words that there are in these columns."""
        coded = [self._coded(column) for column in columns]
        combined = filled(self.count, 0)
        for codes, words in coded:
            combined = combined * (len(words) + 1) + codes + 1
        found = set()
        for each in np.unique(combined).tolist():
            rest, row = each, []
            for _, words in reversed(coded):
                rest, code = divmod(rest, len(words) + 1)
                row.append(words[code - 1] if code else "")
            found.add(tuple(reversed(row)))
        return found

    def _places(self, names: dict[str, str]) -> Iterator[TracedQueue]:
        for manager, queue, kind in self._names("manager", "queue", "queue_kind"):
            yield TracedQueue(hashed(manager, queue), hashed(manager), manager, names[manager], queue, kind)

    def _blocks(self) -> Iterator[Block]:
        number = self.event_id // SIZE
        groups = grouped(self.manager, number)
        words = {hashed(word): word for word in self._coded("manager")[1]}
        gaps = groups.reduced("max", np.where(self.code == _GAP, self.at, NONE))
        columns = (
            groups.first(self.manager), groups.first(number), groups.sizes(),
            *(
                groups.reduced(how, column)
                for how, column in (
                    ("sum", self.event_id), ("min", self.event_id), ("max", self.event_id),
                    ("min", self.at), ("max", self.at),
                )
            ),
            gaps,
        )  # fmt: skip
        for manager, number_, *rest, gap in zip(*(column.tolist() for column in columns), strict=True):
            count, total, first, last, since, until = rest
            block = Block(words[manager], number_, count, total, first, last, since, until)
            yield block if gap == NONE else replace(block, gap=gap)

    # -- traces

    def traces(self) -> Table:
        """Return one row for each message."""
        values = self._values()
        message, number = self._number("message", 0), values["id_number"]
        named = (message > 0) | (number != NONE)
        chosen = np.flatnonzero((self.code != _GAP) & named)
        # a message that was not taken has no number: its identifier replaces it
        message = np.where(message > 0, message, -1 - mixed(values["id_high"], values["id_low"], number))
        everything = len(chosen) == self.count
        rows = {name: values[name] if everything else values[name][chosen] for name in values}
        manager, message = self.manager[chosen], message[chosen]
        groups = grouped(manager, message)
        present = int(np.bitwise_or.reduce(rows["bits"])) if len(chosen) else 0
        columns = {"manager": groups.first(manager), "message": groups.first(message)}
        for name, kept in COLUMNS.items():
            nothing = NEUTRAL[kept.how]
            if kept.of and not present & kept.of:
                columns[name] = filled(len(groups.starts), nothing)
                continue
            value = rows[kept.value]
            if kept.of:
                value = np.where((rows["bits"] & kept.of) != 0, value, nothing)
            columns[name] = groups.reduced(kept.how, value)
        return Table(columns)

    def _values(self) -> dict[str, Ints]:
        """Return the numbers of each event from which traces are made.

        A read from a journal or a dead-letter queue is the reading of a copy.
        """
        is_copy = self.mapped("queue_kind", lambda word: int(word in masks.COPIES)) != 0
        bits = np.where(is_copy, 0, 1 << self.code)
        ordered = self.mapped("protocol", lambda word: int(word in masks.ORDERED)) != 0
        unsure = self.mapped("protocol", lambda word: int(word in masks.UNSURE)) != 0
        bits &= np.where(unsure, ~bit("sent"), -1)
        fetched = ordered & ((bits & bit("received")) != 0)
        leaving = fetched | ((self.code == _CODES["delivered"]) & ~unsure)
        reason = self.mapped("reason", lambda word: POSITIVE.get(word or "", 0))
        positive = (self.code == _CODES["acknowledged"]) & (reason != 0)
        stream, number = self._streams(ordered)
        read = np.where((bits & bit("received")) != 0, 1, 0)
        return self._identifiers() | {
            "at": self.at,
            "event_id": self.event_id,
            "bits": bits,
            "mask": self._mask(bits, ordered, fetched) | np.where(positive, reason, 0),
            "place": self._place(),
            "stream": stream,
            "number": number,
            "expires": self._number("deadline", NONE),
            # a message that is moved out of a journal may be read once more
            "reads": np.where(is_copy & (self.code == _MOVED), -1, read),
            "left_at": np.where(leaving, self.at, NONE),
            "left_by": np.where(leaving, self.event_id, NONE),
            "acknowledged_at": np.where(positive, self.at, NEVER),
            "acknowledged_by": np.where(positive, self.event_id, NEVER),
        }

    def _mask(self, bits: Ints, ordered: Bools, fetched: Bools) -> Ints:
        enters = (bits & ENTRIES) != 0
        outgoing = self.mapped("queue_kind", lambda word: int(word == "outgoing")) != 0
        receipt = (self.mapped("protocol", lambda word: int(word == "manager")) != 0) | self._is_known(
            "reason"
        )
        express = self._number("durable", 1) == 0
        transactional = self._is_known("transaction") | self._is_known("stream")
        lane = (self._number("lookup_id", 0) >> 56) & 7
        batched = ordered & (self.code == _CODES["arrived"])
        marks: tuple[tuple[Bools, Any], ...] = (
            (transactional, masks.TRANSACTIONAL),
            (batched, masks.BATCHED),
            (fetched, masks.FETCHED),
            (express | (enters & receipt), masks.UNPROMISED),
            (enters, np.where(outgoing, masks.OUTGOING, masks.LOCAL) | lane << masks.LANE),
        )
        mask = bits.copy()
        for chosen, mark in marks:
            mask |= np.where(chosen, mark, 0)
        return mask

    def _place(self) -> Ints:
        """Return the number of the queue of each event."""
        codes, managers = self._coded("manager")
        if len(managers) == 1:
            return self.mapped("queue", partial(_place_of, managers[0]))
        places = filled(self.count, 0)
        for code, manager in enumerate(managers):
            selected = codes == code
            places[selected] = self.mapped("queue", partial(_place_of, manager))[selected]
        return places

    def _streams(self, ordered: Bools) -> tuple[Ints, Ints]:
        """Return stream and number of each arrival, for protocols with numbers and those with batches."""
        stream = self.mapped("stream", lambda word: hashed(word) if word else NONE)
        number = self._number("stream_number", NONE)
        arrived = self.code == _CODES["arrived"]
        sequenced = arrived & (self.mapped("protocol", lambda word: int(word in masks.SEQUENCED)) != 0)
        batched = (arrived & ordered | sequenced) & (stream == NONE)
        if batched.any():
            codes, words = self._coded("batch")
            used = codes[batched]
            parts = {
                code: (words[code] if code >= 0 else "").partition(":") for code in np.unique(used).tolist()
            }
            heads = {code: hashed(part[0]) for code, part in parts.items()}
            stream[batched] = [heads[code] for code in used.tolist()]
            counted = batched & sequenced
            if counted.any():
                numbers = {code: int(part[2]) if part[2].isdigit() else NONE for code, part in parts.items()}
                number = number.copy()
                number[counted] = [numbers[code] for code in codes[counted].tolist()]
        return stream, number


def _place_of(manager: str, queue: str | None) -> int:
    return hashed(manager, queue or "")


def _signed(numbers: list[int]) -> Ints:
    return np.array(numbers, np.uint64).view(np.int64)
