"""Joins messages that left for another manager with the events of that manager (passages).

    traces of one message   alpha: queued, delivered      beta: arrived, received      gamma: duplicate
    passages                alpha's, beside beta's arrival
                            alpha's, beside gamma's

All traces of a message identifier are in one table; so the join is one sort by the identifier.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from reliquary.spark.pipelines.audit import masks
from reliquary.spark.pipelines.audit.arrays import NEVER, NONE, Table, filled, grouped, has, joined, known
from reliquary.spark.pipelines.audit.masks import bit
from reliquary.spark.pipelines.audit.traces import ID

ARRIVED: Final = bit("arrived")
FOREIGN: Final = bit(
    "arrived", "duplicate", "refused", "expired", "rejected", "purged", "dead-lettered", "moved"
)
"""The events that prove the arrival of a message which was not sent here."""
SENT_HERE: Final = bit("accepted", "queued", "prepared", "committed")
SOURCE: Final = (
    *ID, "manager", "message", "mask", "place", "entered_time", "entered_event", "start_time", "deadline",
    "sent_time", "sent_event", "left_time", "left_event", "settled_event", "doubt_event", "doubt_time",
    "acknowledged_time", "acknowledged_event",
)  # fmt: skip
OTHER: Final = (
    "other_manager", "seen", "arrivals", "ours", "other_place", "other_time", "other_event", "other_mask",
    "other_stream", "other_number",
)  # fmt: skip
COLUMNS: Final = (*SOURCE, *OTHER)
NEEDED: Final = (
    "manager", "message", *ID, "mask", "place", "entered_time", "entered_event", "due_time", "deadline",
    "stream", "number", "sent_time", "sent_event", "left_time", "left_event", "settled_event", "doubt_event",
    "doubt_time", "acknowledged_time", "acknowledged_event",
)  # fmt: skip
"""The columns of traces that passages and arrivals are made of."""


def started(traces: Table) -> Table:
    """Return traces with their start: a delayed message counts from its delivery time on."""
    entered, due = traces["entered_time"], traces["due_time"]
    return traces.plus(start_time=np.where(entered == NEVER, due, np.maximum(entered, due)))


def passages(traces: Table) -> Table:
    """Return the messages that left for another manager; `traces` has all traces of each of them."""
    identified = started(traces.where(known(traces["id_number"])))
    groups = grouped(*(identified[name] for name in ID))
    numbered = identified.plus(subject=groups.numbers())
    others = _others(numbered)
    sources = numbered.where(has(numbered, masks.OUTGOING | masks.FETCHED))
    # the others of each subject are neighbours
    begins = np.searchsorted(others["subject"], sources["subject"])
    ends = np.searchsorted(others["subject"], sources["subject"], side="right")
    counts = ends - begins
    left = np.repeat(np.arange(len(sources)), counts)
    offsets = np.arange(len(left)) - np.repeat(np.cumsum(counts) - counts, counts)
    right = begins[left] + offsets
    elsewhere = (others["other_manager"][right] != sources["manager"][left]) | (
        (others["ours"][right] > 0) & (others["other_event"][right] != sources["entered_event"][left])
    )
    left, right = left[elsewhere], right[elsewhere]
    alone = np.ones(len(sources), np.bool_)
    alone[left] = False
    met = Table(sources.where(left).only(SOURCE).columns | others.where(right).only(OTHER).columns)
    rest = sources.where(alone).only(SOURCE)
    unknown = {name: filled(len(rest), _UNKNOWN.get(name, 0)) for name in OTHER}
    return joined([met, rest.plus(**unknown)])


_UNKNOWN: Final = {
    "other_manager": NONE,
    "other_place": NONE,
    "other_time": NEVER,
    "other_event": NEVER,
    "other_stream": NONE,
    "other_number": NEVER,
}
"""The values of a passage without a trace at the other manager; all other columns are 0."""


def _others(numbered: Table) -> Table:
    """Return each manager's events about messages from other managers, in the order of their subjects."""
    there = numbered.where(has(numbered, FOREIGN) & (~has(numbered, SENT_HERE) | has(numbered, ARRIVED)))
    groups = grouped(there["subject"], there["manager"])
    arrived = has(there, ARRIVED)
    number = np.where(there["number"] == NONE, NEVER, there["number"])
    return Table(
        {
            "subject": groups.first(there["subject"]),
            "other_manager": groups.first(there["manager"]),
            "seen": groups.sizes(),
            "arrivals": groups.reduced("sum", arrived.astype(np.int64)),
            "ours": groups.reduced("sum", (arrived & has(there, masks.LOCAL)).astype(np.int64)),
            "other_place": groups.reduced("max", there["place"]),
            "other_time": groups.reduced("min", np.where(arrived, there["entered_time"], NEVER)),
            "other_event": groups.reduced("min", np.where(arrived, there["entered_event"], NEVER)),
            "other_mask": groups.reduced("or", there["mask"]),
            "other_stream": groups.reduced("max", there["stream"]),
            "other_number": groups.reduced("min", number),
        }
    )


def arrivals(traces: Table) -> Table:
    """Return the messages that arrived in each queue, and how often."""
    came = traces.where(
        known(traces["id_number"])
        & has(traces, ARRIVED)
        & has(traces, masks.LOCAL)
        & ~has(traces, masks.UNPROMISED)
    )
    keys = (*ID, "manager", "place")
    groups = grouped(*(came[name] for name in keys))
    return Table(
        {name: groups.first(came[name]) for name in (*keys, "message")}
        | {
            "arrivals": groups.sizes(),
            "entered_time": groups.reduced("min", came["entered_time"]),
            "entered_event": groups.reduced("min", came["entered_event"]),
            "again_event": groups.reduced("max", came["entered_event"]),
        }
    )
