"""Runs the audit: it reads new files, judges the changed buckets, and writes the tables and the report.

new files --> traces --> trails (a manager's messages) --> meetings (a message at all managers)
                              '---- verdicts ----'--------------'
                                       |
                  all verdicts --> findings --+--> OUT/findings  (Parquet)
                                   streams ---+--> OUT/streams
                                              +--> OUT/runs
                                              '--> OUT/report.html
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit import findings, lines, quotes, report, streams, tables
from reliquary.spark.pipelines.audit.arrays import Table, joined, unpacked
from reliquary.spark.pipelines.audit.buckets import (
    NAMELESS,
    FrontWork,
    MeetingWork,
    Part,
    Settings,
    Trail,
    TrailWork,
    candidates,
    fronts,
    judge_meeting,
    judge_trail,
    read_result,
)
from reliquary.spark.pipelines.audit.coverage import (
    CoveredInterval,
    TracedQueue,
    combined,
    stretches,
    together,
)
from reliquary.spark.pipelines.audit.intake import Taken, take_in
from reliquary.spark.pipelines.audit.routes import routes
from reliquary.spark.pipelines.audit.rules import Limits, RuleRows
from reliquary.spark.pipelines.audit.state import Kept, ReadFile, State
from reliquary.spark.pipelines.audit.streams import Stream
from reliquary.spark.pipelines.audit.verdicts import FindingKind, Reason, Verdict
from reliquary.spark.pipelines.audit.work import SparkWork, Work

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

SHOWN: Final = 500
"""The number of findings that are listed in the report; the table has all."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class AuditConfig:
    """The settings of an audit: its histories, and the folder of the results."""

    history: Sequence[str]
    """Folders with the history of any number of managers."""
    out: Path
    limits: Limits = field(default_factory=Limits)
    routes: Mapping[str, str] = field(default_factory=dict)
    """Destinations and their managers, if the data does not show them."""
    in_order: frozenset[str] = frozenset()
    """Queues without transactions whose readers take messages from the front; `*` for all."""
    any_order: frozenset[str] = frozenset()
    """Queues whose readers choose, so that the order of reading is not judged; `*` for all."""


@dataclass(frozen=True)
class AuditReport:
    """The outcome of one run."""

    verdict: Verdict
    streams: list[Stream]
    stretches: dict[str, CoveredInterval]
    names: dict[str, str]
    """The names of the managers, by their identifiers."""
    shown: list[dict[str, Any]]
    """The first findings, as rows of the table."""
    quoted: dict[tuple[str, int], dict[str, Any]]
    """Lines of the history behind findings, by manager and event."""
    over_time: list[dict[str, Any]]
    """The number of findings of each kind in each interval."""
    flow: list[dict[str, Any]]
    limits: Limits
    page: Path
    new_files: int

    @property
    def found(self) -> dict[FindingKind, int]:
        """The number of findings of each kind."""
        return {kind: sum(stream.found.get(kind, 0) for stream in self.streams) for kind in FindingKind}

    @property
    def unjudged(self) -> dict[Reason, int]:
        """The number of unjudged messages, by reason."""
        return {reason: sum(stream.unjudged.get(reason, 0) for stream in self.streams) for reason in Reason}

    @property
    def events(self) -> int:
        """The number of events in all histories."""
        return sum(stretch.events for stretch in self.stretches.values())


def run_audit(spark: SparkSession, config: AuditConfig, tell: Tell = lambda _: None) -> AuditReport:
    """Audit the histories with Spark, write tables and report, and return what was found."""
    return audit(SparkWork(spark), config, tell)


def audit(work: Work, config: AuditConfig, tell: Tell = lambda _: None) -> AuditReport:
    """Judge the files that are new since the last run, write the findings, and return the report."""
    config = replace(config, out=config.out.absolute())
    state = State(config.out / "state")
    files = work.files(config.history)
    new = state.new(files)
    if new:
        tell(f"reading {len(new)} new files of {len(files)}")
    taken = [msgspec.json.decode(each, type=Taken) for each in _read(work, state, new)]
    survey = combined([state.kept.survey, *(each.survey for each in taken)])
    if not survey.blocks:
        raise UsageError(
            f"there is no history in {', '.join(config.history)}: name folders with Parquet files"
        )
    covered = stretches(survey.blocks)  # refuses what came twice, before anything is kept
    settings = _settings(config, survey.places)
    tell("judging")
    trails, meetings = _judge(work, state, taken, settings)
    read = _named(new, [file for each in taken for file in each.files])
    state.advance(
        Kept(
            run=state.kept.run + bool(new),
            settings=settings,
            files=[*state.kept.files, *read],
            survey=survey,
            trails=trails,
            meetings=meetings,
        )
    )
    result = _conclude(work, state, config, covered, {*files})
    tell("writing the report")
    outcome = AuditReport(**result, limits=config.limits, page=config.out / "report.html", new_files=len(new))
    tables.write(outcome, config.out, state.kept.run)
    report.write(outcome)
    return outcome


def _read(work: Work, state: State, new: list[str]) -> list[bytes]:
    return work.read(new, partial(take_in, state.files)) if new else []


def _named(new: list[str], read: list[ReadFile]) -> list[ReadFile]:
    """Return what was read, under the names by which the next run finds the files."""
    names = {_plain(name): name for name in new}
    return [ReadFile(names.get(_plain(file.name), file.name), file.spans) for file in read]


def _plain(name: str) -> str:
    return "/" + name.removeprefix("file:").lstrip("/")


# -- what verdicts depend on


def _settings(config: AuditConfig, places: Sequence[TracedQueue]) -> Settings:
    return Settings(
        config.limits,
        _queues("--in-order", config.in_order, places),
        _queues("--any-order", config.any_order, places),
    )


def _queues(option: str, names: frozenset[str], places: Sequence[TracedQueue]) -> list[int]:
    """Return the queues of applications that have these names."""
    wanted = {name.lower() for name in names}
    local = [place for place in places if place.kind == "local"]
    unknown = wanted - {place.queue.lower() for place in local} - {"*"}
    if unknown:
        raise UsageError(f"{option} {sorted(unknown)[0]}: no history has a queue of this name")
    return sorted(place.hashed for place in local if "*" in wanted or place.queue.lower() in wanted)


# -- buckets


def _judge(
    work: Work, state: State, taken: Sequence[Taken], settings: Settings
) -> tuple[dict[str, Trail], dict[str, str]]:
    """Judge the buckets that new traces change, or all if the settings have changed."""
    kept = state.kept
    new: dict[str, list[Part]] = defaultdict(list)
    for each in taken:
        for key, part in each.parts:
            new[key].append(part)
    changed = list(new) if kept.settings == settings else [*{**kept.trails, **new}]
    items = [TrailWork(key, kept.trails.get(key), new.get(key, []), settings, state.files) for key in changed]
    trails = dict(kept.trails)
    for answer in work.each(items, _trail):
        key, trail = msgspec.json.decode(answer, type=tuple[str, Trail])
        trails[key] = trail
    touched = {meeting for key in changed for meeting in trails[key].meetings} - {NAMELESS}
    where = _meetings(trails, touched)
    meetings = dict(kept.meetings)
    for answer in work.each(
        [MeetingWork(key, parts, settings, state.files) for key, parts in where.items()], _meeting
    ):
        key, result = msgspec.json.decode(answer, type=tuple[str, str])
        meetings[key] = result
    return trails, meetings


def _trail(item: TrailWork) -> bytes:
    return msgspec.json.encode((item.key, judge_trail(item)))


def _meeting(item: MeetingWork) -> bytes:
    return msgspec.json.encode((item.key, judge_meeting(item)))


def _meetings(trails: Mapping[str, Trail], wanted: set[str]) -> dict[str, list[Part]]:
    """Return the files with the traces of meetings."""
    where: dict[str, list[Part]] = defaultdict(list)
    for trail in trails.values():
        for meeting, part in trail.meetings.items():
            if meeting in wanted:
                where[meeting].append(Part(trail.path, part))
    return dict(sorted(where.items()))


# -- all together


def _conclude(
    work: Work, state: State, config: AuditConfig, covered: dict[str, CoveredInterval], files: set[str]
) -> dict[str, Any]:
    kept = state.kept
    places = kept.survey.places
    results = {("trail", key): read_result(trail.result) for key, trail in kept.trails.items()} | {
        ("meeting", key): read_result(path) for key, path in kept.meetings.items()
    }
    counted: dict[str, list[Table]] = defaultdict(list)
    for result in results.values():
        for name, table in result.items():
            counted[name].append(table)
    summary = streams.summarize(counted, places)
    hashes = {place.manager_hash: place.manager for place in places}
    seen = {place: frozenset(hashes[each] for each in chosen) for place, chosen in summary.seen.items()}
    ways = {
        place: stretch
        for place, managers in routes(places, seen, config.routes).items()
        if (stretch := together(managers, covered)) is not None
    }
    knowledge = findings.Knowledge(
        {number: covered[manager] for number, manager in hashes.items()}, ways, summary.last, config.limits
    )
    book = streams.StreamCounts(summary.streams, places)
    with tables.Findings(config.out, book, SHOWN, _width(covered)) as written:
        for each in (*counted["candidates"], _overtaken(work, kept, results, config.limits)):
            written.add(findings.judged(each, knowledge))
    every = sorted(summary.streams.values(), key=lambda stream: (stream.is_local, stream.text))
    return {
        "verdict": _verdict(every, covered),
        "streams": every,
        "stretches": covered,
        "names": {place.manager: place.manager_name for place in places},
        "shown": written.shown,
        "over_time": written.over_time,
        "quoted": quotes.quoted(work, [file for file in kept.files if file.name in files], written.shown),
        "flow": tables.flow(counted["flow"], _width(covered)),
    }


def _overtaken(
    work: Work, kept: Kept, results: Mapping[tuple[str, str], dict[str, Table]], limits: Limits
) -> Table:
    """Return candidates in lines whose parts in several buckets overlap."""
    keys = list(results)
    suspects = lines.crossed([results[key]["ends"] for key in keys])
    wanted: dict[tuple[str, str], list[int]] = defaultdict(list)
    for line, parts in suspects.items():
        for part in parts:
            wanted[keys[part]].append(line)
    assert kept.settings is not None
    items = [
        FrontWork(chosen, kept.settings, _parts(kept, kind, key), kind == "trail")
        for (kind, key), chosen in wanted.items()
    ]
    rows = [unpacked(each)["front"] for each in work.each(items, fronts)]
    _, overtaken = lines.judged(joined(rows)) if rows else (None, Table({}))
    return candidates(overtaken, RuleRows.PLACES_IN_LINE, limits)


def _parts(kept: Kept, kind: str, key: str) -> list[Part]:
    if kind == "meeting":
        return _meetings(kept.trails, {key})[key]
    trail = kept.trails[key]
    return [Part(trail.path, number) for number in trail.meetings.values()]


def _width(covered: Mapping[str, CoveredInterval]) -> int:
    begins = min(stretch.begins for stretch in covered.values())
    return tables.width_of(begins, max(stretch.until for stretch in covered.values()))


def _verdict(every: list[Stream], covered: Mapping[str, CoveredInterval]) -> Verdict:
    """Return the verdict: one fault refutes all, and a gap in a history leaves all undecided."""
    verdicts = {stream.verdict for stream in every}
    if Verdict.REFUTED in verdicts:
        return Verdict.REFUTED
    whole = all(not stretch.holes for stretch in covered.values())
    return Verdict.PROVEN if verdicts == {Verdict.PROVEN} and whole else Verdict.NOT_JUDGED
