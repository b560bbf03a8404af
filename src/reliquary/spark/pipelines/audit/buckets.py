"""Judges messages in buckets, so that memory does not grow with the history.

    traces of a manager    message numbers 0 to 65535 | 65536 to 131071 | ...       `Trail`
    traces of a message    identifier numbers in equal ranges, over all managers    `Meeting`

Messages that were sent at about one time have numbers near each other, so new events change the last
buckets and leave the others as they are.  Each bucket is judged by itself and leaves its verdicts as a
file: candidates of rules, sums of its streams, and the ends of its lines.  Decisions that need all
buckets follow after all have been counted (`findings`).
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from tempfile import mkstemp
from typing import Final

import msgspec
import numpy as np

from reliquary.spark.pipelines.audit import lines, rules, streams, traces
from reliquary.spark.pipelines.audit.arrays import (
    NONE,
    Ints,
    Table,
    empty,
    filled,
    grouped,
    has,
    joined,
    known,
    mixed,
    packed,
    unpacked,
)
from reliquary.spark.pipelines.audit.masks import bit
from reliquary.spark.pipelines.audit.passages import NEEDED, arrivals, passages, started
from reliquary.spark.pipelines.audit.rules import RULES, Limits, RuleRows
from reliquary.spark.pipelines.audit.traces import ID

BITS: Final = 16
"""The number of low bits in which the numbers of a bucket differ."""
LINEAGES: Final = 16
"""The number of buckets over which senders are spread."""
NAMELESS: Final = ""
"""The part of a trail whose messages have no identifier."""

CANDIDATE: Final = (
    "rule", "manager", "message", "place", "other_manager", "other_place", *ID, "since", "until", "at",
    "event", "second_event", "other_event", "amount",
)  # fmt: skip


class Part(msgspec.Struct, frozen=True):
    """A part of a file of traces."""

    path: str
    number: int


class Settings(msgspec.Struct, frozen=True):
    """The settings on which verdicts depend, besides the traces."""

    limits: Limits
    in_order: list[int] = []
    any_order: list[int] = []


class Trail(msgspec.Struct, frozen=True):
    """The files that are kept of a bucket of one manager."""

    path: str
    """The path of its traces; the parts are those of meetings."""
    meetings: dict[str, int]
    """The meetings that its messages belong to, and the part of each."""
    result: str


def trail_parts(table: Table) -> Iterator[tuple[str, Table]]:
    """Yield the parts of traces that belong to each trail."""
    unnumbered = (table["message"] < 0).astype(np.int64)
    number = np.where(unnumbered != 0, table["id_number"], table["message"]) >> BITS
    for (manager, series, block), part in _cut(table, table["manager"], unnumbered, number):
        yield f"{manager}:{series}:{block}", part


def meeting_parts(table: Table) -> Iterator[tuple[str, Table]]:
    """Yield the parts of traces that belong to each meeting."""
    there = known(table["id_number"])
    lineage = np.where(there, mixed(table["id_high"], table["id_low"]) % LINEAGES, -1)
    number = np.where(there, table["id_number"] >> BITS, 0)
    for (of, block), part in _cut(table, lineage, number):
        yield NAMELESS if of < 0 else f"{of}:{block}", part


def _cut(table: Table, *keys: Ints) -> Iterator[tuple[tuple[int, ...], Table]]:
    """Yield the rows with equal keys, with these keys."""
    groups = grouped(*keys)
    ordered = table if groups.order is None else table.where(groups.order)
    heads = zip(*(groups.first(key).tolist() for key in keys), strict=True)
    for head, (begin, end) in zip(heads, pairwise([*groups.starts.tolist(), groups.length]), strict=True):
        yield head, Table({name: column[begin:end] for name, column in ordered.columns.items()})


# -- what is done with one bucket


class TrailWork(msgspec.Struct, frozen=True):
    """The task of merging new traces into a trail, and judging it."""

    key: str
    before: Trail | None
    new: list[Part]
    settings: Settings
    folder: str


class MeetingWork(msgspec.Struct, frozen=True):
    """The task of judging one meeting."""

    key: str
    parts: list[Part]
    settings: Settings
    folder: str


def judge_trail(work: TrailWork) -> Trail:
    """Write the traces and the verdicts of a trail."""
    tables = [table for part in work.new for table in traces.read(Path(part.path), (part.number,))]
    before = work.before
    if before is not None:
        tables += traces.read(Path(before.path), before.meetings.values())
    table = traces.merged(tables)
    if work.new or before is None:
        path, parts = new_path(work.folder, "arrow"), dict(meeting_parts(table))
        traces.write(path, parts.values())
        kept, meetings = str(path), {key: number for number, key in enumerate(parts)}
    else:
        kept, meetings = before.path, before.meetings
    return Trail(kept, meetings, _write_result(work.folder, trail_result(table, work.settings)))


def judge_meeting(work: MeetingWork) -> str:
    """Write the verdicts of a meeting."""
    return _write_result(work.folder, meeting_result(_meeting(work.parts), work.settings))


def _meeting(parts: Sequence[Part]) -> Table:
    tables = [table for part in parts for table in traces.read(Path(part.path), (part.number,), NEEDED)]
    return joined(tables)


def trail_result(table: Table, settings: Settings) -> dict[str, Table]:
    """Return the verdicts from the traces of one manager alone."""
    whole = started(table)
    front, overtaken = lines.judged(lines.within(whole, settings.in_order, settings.any_order))
    found = [
        candidates(whole, RuleRows.TRACES, settings.limits),
        candidates(overtaken, RuleRows.PLACES_IN_LINE, settings.limits),
    ]
    return {
        "candidates": joined(found),
        "within": streams.within(whole),
        "flow": flow(whole),
        "ends": lines.ends(front),
    }


def meeting_result(table: Table, settings: Settings) -> dict[str, Table]:
    """Return the verdicts from the traces of all managers together."""
    crossings = passages(table)
    front, overtaken = lines.judged(lines.between(crossings))
    found = [
        candidates(crossings, RuleRows.PASSAGES, settings.limits),
        candidates(arrivals(table), RuleRows.ARRIVALS, settings.limits),
        candidates(overtaken, RuleRows.PLACES_IN_LINE, settings.limits),
    ]
    return {
        "candidates": joined(found),
        "between": streams.between(crossings),
        "last": streams.last(crossings),
        "ends": lines.ends(front),
    }


class FrontWork(msgspec.Struct, frozen=True):
    """The task of finding the fronts of some lines in one bucket."""

    lines: list[int]
    settings: Settings
    parts: list[Part]
    is_trail: bool


def fronts(work: FrontWork) -> bytes:
    """Return the rows of these fronts."""
    if work.is_trail:
        tables = [table for part in work.parts for table in traces.read(Path(part.path), (part.number,))]
        rows = lines.within(started(traces.merged(tables)), work.settings.in_order, work.settings.any_order)
    else:
        rows = lines.between(passages(_meeting(work.parts)))
    front, _ = lines.judged(rows.where(np.isin(rows["line"], work.lines)))
    return packed({"front": front})


# -- candidates


def candidates(table: Table, over: RuleRows, limits: Limits) -> Table:
    """Return the rows that meet the condition of a rule, whether or not the histories can judge them."""
    found = [
        _candidates(table.where(rule.condition(table, limits)), number, limits)
        for number, rule in enumerate(RULES)
        if rule.over is over and len(table)
    ]
    return joined([empty(CANDIDATE), *found])


def _candidates(met: Table, number: int, limits: Limits) -> Table:
    rule = RULES[number]
    count, columns = len(met), met.columns

    def event(names: Sequence[str], place: int) -> Ints:
        return columns[names[place]] if place < len(names) else filled(count, NONE)

    nothing = filled(count, NONE)
    return Table(
        {
            "rule": filled(count, number),
            **{name: columns[name] for name in ("manager", "message", "place", *ID)},
            "other_manager": columns.get("other_manager", nothing),
            "other_place": columns.get("other_place", nothing),
            "since": rule.since(met, limits),
            "until": rule.until(met, limits),
            "at": rule.at(met, limits),
            "event": event(rule.events, 0),
            "second_event": event(rule.events, 1),
            "other_event": event(rule.other_events, 0),
            "amount": nothing if rule.amount is None else rule.amount(met, limits),
        }
    ).only(CANDIDATE)


# -- flow

WIDTHS: Final = (60, 300, 900, 3600, 6 * 3600, 86400, 7 * 86400)
"""The possible widths of a column of the flow, in seconds; each is a multiple of the one before."""
COLUMNS: Final = 60
"""The largest number of columns of a flow, unless they have the largest width."""
_SENT: Final = bit("accepted", "queued", "committed")


def width_of(begins: int, ends: int) -> int:
    """Return the width of the columns between two moments, in microseconds."""
    seconds = (ends - begins) / rules.SECOND
    chosen = next((width for width in WIDTHS if seconds / width <= COLUMNS), WIDTHS[-1])
    return chosen * rules.SECOND


def flow(table: Table) -> Table:
    """Return how many messages were sent, arrived and were received in each interval."""
    entered, received = table["entered_time"], table["received_time"]
    moments = np.concatenate([entered[known(entered)], received[known(received)]])
    if not len(moments):
        return empty(("at", "sent", "arrived", "received"))
    width = width_of(int(moments.min()), int(moments.max()))
    marks = (
        (entered, has(table, _SENT), has(table, bit("arrived")), np.zeros(len(table), np.bool_)),
        (received, *(np.zeros(len(table), np.bool_),) * 2, np.ones(len(table), np.bool_)),
    )
    parts = []
    for at, *counts in marks:
        there = known(at)
        names = ("sent", "arrived", "received")
        counted = {name: mark[there].astype(np.int64) for name, mark in zip(names, counts, strict=True)}
        parts.append(Table({"at": at[there] // width * width} | counted))
    return summed(joined(parts), "at")


def summed(table: Table, key: str) -> Table:
    """Return all other columns added up by one."""
    groups = grouped(table[key])
    return Table(
        {
            name: groups.first(column) if name == key else groups.reduced("sum", column)
            for name, column in table.columns.items()
        }
    )


# -- files


def new_path(folder: str, kind: str) -> Path:
    """Return a new file in a folder, with a name that no other task or attempt uses."""
    Path(folder).mkdir(parents=True, exist_ok=True)
    handle, path = mkstemp(f".{kind}", dir=folder)
    os.close(handle)
    return Path(path)


def _write_result(folder: str, result: Mapping[str, Table]) -> str:
    path = new_path(folder, "result")
    path.write_bytes(packed(result))
    return str(path)


def read_result(path: str) -> dict[str, Table]:
    """Return the verdicts of a bucket from its file."""
    return unpacked(Path(path).read_bytes())
