"""One run of the audit: read what is new, judge everything, write the tables and the report.

files --> survey, traces --> state --> passages, lines --> rules --> findings --+--> OUT/findings  (Parquet)
                                                 '--> streams ------------------+--> OUT/streams
                                                                                +--> OUT/runs
                                                                                '--> OUT/report.html
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit import findings, report, rules, streams, tables, traces
from reliquary.spark.pipelines.audit.coverage import Place, Stretch, stretches, survey, together
from reliquary.spark.pipelines.audit.routes import routes
from reliquary.spark.pipelines.audit.rules import RULES, Kind, Limits, Reason, Verdict
from reliquary.spark.pipelines.audit.state import State
from reliquary.spark.pipelines.audit.streams import Stream

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame, SparkSession

SHARE: Final = 16 << 20
"""So many bytes of history make one share of the work: memory is bounded by shares, not by the whole."""
SHOWN: Final = 500
"""So many findings are listed in the report; the table has all."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class AuditConfig:
    """What to audit, and where the answer goes."""

    history: Sequence[str]
    """Folders with the history of any number of managers."""
    out: Path
    limits: Limits = field(default_factory=Limits)
    routes: Mapping[str, str] = field(default_factory=dict)
    """Destinations and the managers that they are, where the data cannot tell."""
    in_order: frozenset[str] = frozenset()
    """Queues whose readers take messages from the front, one after the other; `*` for all."""


@dataclass(frozen=True)
class AuditReport:
    """The outcome of one run."""

    verdict: Verdict
    streams: list[Stream]
    stretches: dict[str, Stretch]
    names: dict[str, str]
    """Of the managers."""
    shown: list[dict[str, Any]]
    """The first findings, as rows of the table."""
    flow: list[dict[str, Any]]
    limits: Limits
    page: Path
    new_files: int

    @property
    def found(self) -> dict[Kind, int]:
        """How many findings there are of each kind."""
        return {kind: sum(stream.found.get(kind, 0) for stream in self.streams) for kind in Kind}

    @property
    def unjudged(self) -> dict[Reason, int]:
        """How much could not be judged, and why."""
        return {reason: sum(stream.unjudged.get(reason, 0) for stream in self.streams) for reason in Reason}

    @property
    def events(self) -> int:
        """Events in all histories."""
        return sum(stretch.events for stretch in self.stretches.values())


def run_audit(spark: SparkSession, config: AuditConfig, tell: Tell = lambda _: None) -> AuditReport:
    """Audit the histories, write tables and report, and return what was found."""
    state = State(config.out / "state")
    files = _files(spark, config.history)
    new = state.new(files)
    with _shares(spark, files):
        if new:
            tell(f"reading {len(new)} new files of {len(files)}")
            _take_in(spark, state, new)
        kept = state.traces(spark)
        if kept is None:
            raise UsageError(
                f"there is no history in {', '.join(config.history)}: name folders with Parquet files"
            )
        tell("judging")
        result = _judge(spark, state, kept, config)
    tell("writing the report")
    outcome = AuditReport(**result, limits=config.limits, page=config.out / "report.html", new_files=len(new))
    tables.write(outcome, config.out, state.kept.run)
    report.write(outcome)
    return outcome


def _files(spark: SparkSession, folders: Sequence[str]) -> list[str]:
    """All files of the history."""
    from pyspark.errors import AnalysisException

    found: set[str] = set()
    for folder in folders:
        try:
            found.update(spark.read.schema(traces.SCHEMA).parquet(folder).inputFiles())
        except AnalysisException as why:
            raise UsageError(f"there is no history in {folder}: {why.getCondition() or why}") from why
    return sorted(found)


@contextmanager
def _shares(spark: SparkSession, files: list[str]) -> Iterator[None]:
    """Cut the work so that each part of it fits into memory; no plan needs to be thought over midway."""
    parts, adaptive = "spark.sql.shuffle.partitions", "spark.sql.adaptive.enabled"
    before = {key: spark.conf.get(key) or "" for key in (parts, adaptive)}
    local = [Path(file.removeprefix("file://")) for file in files if file.startswith("file:")]
    size = sum(path.stat().st_size for path in local if path.exists())
    spark.conf.set(parts, str(max(int(before[parts]), math.ceil(size / SHARE))))
    spark.conf.set(adaptive, "false")
    try:
        yield
    finally:
        for key, value in before.items():
            spark.conf.set(key, value)


def _take_in(spark: SparkSession, state: State, new: list[str]) -> None:
    """Merge new files into the state."""
    events = spark.read.schema(traces.SCHEMA).parquet(*new)
    looked = survey(events)
    if any(not block.manager for block in looked.blocks):
        raise UsageError("some files are no history: they have no column `manager` or nothing in it")
    whole = state.kept.survey + looked
    stretches(whole.blocks)  # refuses what came twice, before anything is kept
    fresh = traces.traces(events)
    older = state.traces(spark)
    state.advance(fresh if older is None else traces.merged(older, fresh), whole, new)


def _judge(spark: SparkSession, state: State, kept: DataFrame, config: AuditConfig) -> dict[str, Any]:
    from pyspark.sql import functions as f

    looked = state.kept.survey
    covered = stretches(looked.blocks)
    hashes = {place.manager_hash: place.manager for place in looked.places}
    names = {place.manager: place.manager_name for place in looked.places}
    parts = int(spark.conf.get("spark.sql.shuffle.partitions") or 4)

    watermarks = tables.small(
        spark,
        "manager bigint, watermark bigint",
        [(number, covered[manager].until) for number, manager in hashes.items()],
    )
    all_traces = kept.join(f.broadcast(watermarks), "manager").select("*", f.expr(findings.START))
    crossings = findings.passages(kept, parts).persist()
    try:
        summary = streams.summarize(all_traces, crossings, looked.places)
        seen = {place: frozenset(hashes[each] for each in its) for place, its in summary.seen.items()}
        ways = routes(looked.places, seen, config.routes)
        last = tables.small(
            spark,
            "place bigint, last_event bigint, overtaken_time bigint",
            [(place, event, time) for place, (event, time) in summary.last.items()],
        )
        overtaken = (
            f"coalesce(entered_event < last_event and mask & {rules.TRANSACTIONAL}L != 0 "
            f"and mask & {rules.OUT_OF_LINE}L = 0, false) as overtaken"
        )
        looked_at = findings.Tables(
            all_traces,
            crossings.join(f.broadcast(last), "place", "left").select("*", f.expr(overtaken)),
            findings.arrivals(kept, parts),
            findings.lines(kept, crossings, _in_order(config.in_order, looked.places)),
        )
        found = findings.judged(
            findings.candidates(looked_at, config.limits), _coverings(spark, covered, hashes, ways)
        ).persist()
        book = streams.Book(summary.streams, looked.places)
        texts = _count(found, book)
        shown = tables.findings(spark, found, book, texts, config.out, SHOWN)
        found.unpersist()
        flow = tables.flow(kept, covered.values())
    finally:
        crossings.unpersist()
    every = sorted(summary.streams.values(), key=lambda stream: (stream.is_local, stream.text))
    return {
        "verdict": _verdict(every, covered),
        "streams": every,
        "stretches": covered,
        "names": names,
        "shown": shown,
        "flow": flow,
    }


def _in_order(names: frozenset[str], places: Sequence[Place]) -> list[int]:
    """The queues of applications that are read in order."""
    wanted = {name.lower() for name in names}
    local = [place for place in places if place.kind == "local"]
    unknown = wanted - {place.queue.lower() for place in local} - {"*"}
    if unknown:
        raise UsageError(f"--in-order {sorted(unknown)[0]}: no history tells of a queue of this name")
    return [place.hashed for place in local if "*" in wanted or place.queue.lower() in wanted]


def _coverings(
    spark: SparkSession,
    covered: Mapping[str, Stretch],
    hashes: Mapping[int, str],
    ways: Mapping[int, frozenset[str]],
) -> DataFrame:
    """What is covered by each manager, and by the destinations of each queue together."""
    known = {number: covered[manager] for number, manager in hashes.items()}
    for place, managers in ways.items():
        stretch = together(managers, covered)
        if stretch is not None:
            known[place] = stretch
    return tables.small(
        spark,
        "covering bigint, covered_since bigint, covered_until bigint, "
        "holes array<struct<begins:bigint,ends:bigint>>",
        [
            (
                number,
                stretch.since,
                stretch.until,
                [{"begins": begins, "ends": ends} for begins, ends in stretch.holes],
            )
            for number, stretch in known.items()
        ],
    )


def _count(found: DataFrame, book: streams.Book) -> list[tuple[int, int | None, int | None, str]]:
    """Count findings, and what is not judged, in their streams; returns which streams those are."""
    texts: dict[tuple[int, int | None, int | None], str] = {}
    for row in found.groupBy("rule", "place", "other_place", "reason").count().collect():
        rule = RULES[row["rule"]]
        stream = book.stream(rule.over, row["place"], row["other_place"])
        texts[row["rule"], row["place"], row["other_place"]] = stream.text
        if row["reason"] is None:
            stream.found[rule.kind] = stream.found.get(rule.kind, 0) + row["count"]
        else:
            reason = Reason(row["reason"])
            stream.unjudged[reason] = stream.unjudged.get(reason, 0) + row["count"]
    return [(*key, text) for key, text in texts.items()]


def _verdict(every: list[Stream], covered: Mapping[str, Stretch]) -> Verdict:
    """One fault refutes all; a hole in a history leaves all open."""
    verdicts = {stream.verdict for stream in every}
    if Verdict.REFUTED in verdicts:
        return Verdict.REFUTED
    whole = all(not stretch.holes for stretch in covered.values())
    return Verdict.PROVEN if verdicts == {Verdict.PROVEN} and whole else Verdict.NOT_JUDGED
