"""Judges lines: messages that must keep an order, and those that a later message overtook.

Between managers the turn of a message is its number in the stream, or the order of queueing for
protocols that keep it without numbers.  Within a queue that promises an order it is the order in which
messages came in, and the order in which they were first taken is compared with it.  A message that was
delayed, returned or moved is in no line.

    turn
      |             5 --- 6 --- 7      the front: each has a higher turn than all before it
      |  1 --- 3 ---'
      |           2                    overtaken: a finding
      '------------------------ came

The part of a line in one bucket is kept as the two ends of its front.  Two parts are compared by their ends;
only if these overlap are the rows of both compared (`crossed`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from reliquary.spark.pipelines.audit import masks
from reliquary.spark.pipelines.audit.arrays import (
    NONE,
    Bools,
    Ints,
    Table,
    filled,
    grouped,
    has,
    joined,
    known,
    mixed,
)
from reliquary.spark.pipelines.audit.masks import bit
from reliquary.spark.pipelines.audit.traces import ID

COLUMNS: Final = (
    "line", "turn", "came", "manager", "message", "place", "other_manager", "other_place", *ID, "event",
    "other_event", "since", "until", "at",
)  # fmt: skip
ENDS: Final = ("line", "first_came", "last_came", "first_turn", "last_turn")
_APART: Final = masks.FETCHED | bit("held")


def _lane(table: Table) -> Ints:
    return (table["mask"] >> masks.LANE) & 7


def between(passages: Table) -> Table:
    """Return messages in the streams from one manager to the next."""
    numbered = known(passages["other_number"])
    batched = (passages["other_mask"] & masks.BATCHED) != 0
    rows = passages.where(
        (passages["arrivals"] > 0) & ~has(passages, masks.OUT_OF_LINE) & (numbered | batched)
    )
    numbered = known(rows["other_number"])
    line = mixed(
        rows["place"], rows["other_place"], rows["other_stream"], np.where(numbered, 0, _lane(rows)),
        rows["id_high"], rows["id_low"],
    )  # fmt: skip
    return rows.plus(
        line=line,
        turn=np.where(numbered, rows["other_number"], rows["entered_event"]),
        came=rows["other_event"],
        event=rows["entered_event"],
        since=rows["entered_time"],
        until=np.where(known(rows["left_time"]), rows["left_time"], rows["entered_time"]),
        at=rows["other_time"],
    ).only(COLUMNS)


def within(traces: Table, in_order: Sequence[int], any_order: Sequence[int]) -> Table:
    """Return messages in queues that promise an order: those of transactions, and the queues `in_order`."""
    chosen: Bools = (has(traces, masks.TRANSACTIONAL) & ~np.isin(traces["place"], any_order)) | np.isin(
        traces["place"], in_order
    )
    complete = known(traces["received_event"]) & known(traces["entered_event"]) & known(traces["id_number"])
    rows = traces.where(
        chosen & complete & has(traces, masks.LOCAL) & ~has(traces, _APART | masks.OUT_OF_LINE)
    )
    return rows.plus(
        line=mixed(rows["place"], _lane(rows)),
        turn=rows["entered_event"],
        came=rows["taken_event"],
        event=rows["entered_event"],
        other_event=rows["taken_event"],
        other_manager=filled(len(rows), NONE),
        other_place=filled(len(rows), NONE),
        since=rows["entered_time"],
        until=rows["received_time"],
        at=rows["received_time"],
    ).only(COLUMNS)


def judged(line_rows: Table) -> tuple[Table, Table]:
    """Return the rows of the fronts, in their order, and the rows that were overtaken."""
    if not len(line_rows):
        return line_rows, line_rows
    ordered = line_rows.where(np.lexsort((line_rows["came"], line_rows["line"])))
    line = np.unique(ordered["line"], return_inverse=True)[1]
    turn = np.unique(ordered["turn"], return_inverse=True)[1]
    # lines follow each other, so the highest value so far is one of the line itself
    height = line * (int(turn.max()) + 1) + turn
    in_front = height >= np.maximum.accumulate(height)
    return ordered.where(in_front), ordered.where(~in_front)


def ends(front: Table) -> Table:
    """Return the two ends of the front of each line."""
    groups = grouped(front["line"])
    return Table(
        {
            "line": groups.first(front["line"]),
            "first_came": groups.reduced("min", front["came"]),
            "last_came": groups.reduced("max", front["came"]),
            "first_turn": groups.reduced("min", front["turn"]),
            "last_turn": groups.reduced("max", front["turn"]),
        }
    )


def crossed(parts: Sequence[Table]) -> dict[int, set[int]]:
    """Return the parts of each line that must be compared row by row; `parts` are the ends from buckets."""
    some = [number for number, part in enumerate(parts) if len(part)]
    if not some:
        return {}
    every = joined([parts[number].plus(part=filled(len(parts[number]), number)) for number in some])
    every = every.where(np.lexsort((every["first_came"], every["line"])))
    line, came, turn = every["line"], every["last_came"], every["last_turn"]
    next_to = line[1:] == line[:-1]
    suspect = next_to & ((every["first_came"][1:] <= came[:-1]) | (every["first_turn"][1:] < turn[:-1]))
    found: dict[int, set[int]] = {}
    # a part in order with its neighbour may still overlap with an earlier part
    for each in np.unique(line[1:][suspect]).tolist():
        rows = every.where(line == each)
        chosen = _overlapping(rows)
        if chosen:
            found[each] = {int(number) for number in rows["part"][sorted(chosen)]}
    return found


def _overlapping(rows: Table) -> set[int]:
    """Return the places of parts of one line, in the order of their first rows, that overlap with another."""
    found: set[int] = set()
    cluster = [0]
    came, turn = int(rows["last_came"][0]), int(rows["last_turn"][0])
    for place in range(1, len(rows)):
        if rows["first_came"][place] <= came or rows["first_turn"][place] < turn:
            cluster.append(place)
            found.update(cluster)
        else:
            cluster = [place]
        came, turn = (
            max(came, int(rows["last_came"][place])),
            max(turn, int(rows["last_turn"][place])),
        )
    return found
