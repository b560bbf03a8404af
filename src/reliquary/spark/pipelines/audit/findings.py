"""Makes findings from candidates, with the conditions that need all histories together.

candidates --> later? --> covered? --> one name for one loss --+--> findings
                              '--> not judged, with the reason-'
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from reliquary.spark.pipelines.audit.arrays import NONE, Bools, Ints, Table, grouped, looked_up
from reliquary.spark.pipelines.audit.coverage import REASONS, CoveredInterval
from reliquary.spark.pipelines.audit.rules import RULES, LateCondition, Limits
from reliquary.spark.pipelines.audit.streams import StreamCounts
from reliquary.spark.pipelines.audit.traces import ID
from reliquary.spark.pipelines.audit.verdicts import Reason

_RANK: Final = np.array([rule.rank for rule in RULES], np.int64)
_NO_HISTORY: Final = REASONS.index(Reason.NO_HISTORY)
JUDGED: Final = -1
"""The reason of a finding."""


@dataclass(frozen=True)
class Knowledge:
    """The facts that follow from all histories together."""

    covered: Mapping[int, CoveredInterval]
    """The interval that the history of each manager covers, by its hash."""
    ways: Mapping[int, CoveredInterval]
    """The interval that the destinations of each queue cover together."""
    last: Mapping[int, tuple[int, int]]
    """The last numbered message of each queue that arrived: its event here, its time there."""
    limits: Limits


def judged(candidates: Table, known: Knowledge) -> Table:
    """Return candidates with the `reason` why they are not judged; JUDGED for a finding."""
    waited = _later(candidates, known)
    return _once(waited.plus(reason=_reasons(waited, known)))


def _of(table: Table, later: LateCondition) -> Bools:
    numbers = [number for number, rule in enumerate(RULES) if rule.later is later]
    return np.isin(table["rule"], numbers)


def _later(table: Table, known: Knowledge) -> Table:
    """Return the candidates for which the remaining condition is true, too."""
    limits = known.limits
    last_event = looked_up(table["place"], {place: event for place, (event, _) in known.last.items()}, NONE)
    last_time = looked_up(table["place"], {place: time for place, (_, time) in known.last.items()}, NONE)
    reaches = looked_up(
        table["manager"], {each: covered.until for each, covered in known.covered.items()}, NONE
    )
    overtaken, last, unsettled = (
        _of(table, each) for each in (LateCondition.OVERTAKEN, LateCondition.LAST, LateCondition.UNSETTLED)
    )
    came_later = table["event"] < last_event
    keep = ~overtaken | came_later
    keep &= ~last | (~came_later & (table["at"] + limits.late <= reaches))
    keep &= ~unsettled | (table["at"] + limits.doubt <= reaches)
    until = np.where(overtaken & came_later, last_time + limits.grace, table["until"])
    until = np.where(unsettled, reaches, until)
    amount = np.where(unsettled, reaches - table["at"], table["amount"])
    return table.plus(until=until, amount=amount).where(keep)


def _reasons(table: Table, known: Knowledge) -> Ints:
    """Return the reason why each candidate is not judged."""
    whose = {
        "manager": ("manager", known.covered),
        "other": ("other_manager", known.covered),
        "destination": ("place", known.ways),
    }
    why = np.full(len(table), JUDGED, np.int64)
    for covered_by, (column, stretches) in whose.items():
        numbers = [number for number, rule in enumerate(RULES) if rule.covered_by == covered_by]
        mine = np.isin(table["rule"], numbers)
        for key in np.unique(table[column][mine]).tolist():
            chosen = np.flatnonzero(mine & (table[column] == key))
            covered = stretches.get(key)
            if covered is None:
                why[chosen] = _NO_HISTORY
            else:
                why[chosen] = covered.uncovered(table["since"][chosen], table["until"][chosen])
    return why


def _once(table: Table) -> Table:
    """Keep one of several names for one loss: the strongest judged one, otherwise the strongest."""
    rank = _RANK[table["rule"]]
    ranked, free = table.where(rank > 0), table.where(rank == 0)
    keys = (*ID, "manager", "place")
    order = np.lexsort((_RANK[ranked["rule"]], ranked["reason"] != JUDGED))
    sorted_ = ranked.where(order)
    groups = grouped(*(sorted_[key] for key in keys))  # keeps the order within a group
    chosen = groups.starts if groups.order is None else groups.order[groups.starts]
    best = sorted_.where(chosen)
    return Table({name: np.concatenate([best[name], free[name]]) for name in table.columns})


def count(found: Table, book: StreamCounts) -> list[str]:
    """Count findings and unjudged rows in their streams; return the stream of each row."""
    keys = ("rule", "place", "other_place", "reason")
    groups = grouped(*(found[key] for key in keys))
    texts = []
    heads = (groups.first(found[key]).tolist() for key in keys)
    for number, place, other, reason, counted in zip(*heads, groups.sizes().tolist(), strict=True):
        rule = RULES[number]
        stream = book.stream(rule.over, place, None if other == NONE else other)
        texts.append(stream.text)
        if reason == JUDGED:
            stream.found[rule.kind] = stream.found.get(rule.kind, 0) + counted
        else:
            why = REASONS[reason]
            stream.unjudged[why] = stream.unjudged.get(why, 0) + counted
    return [texts[number] for number in groups.numbers().tolist()]
