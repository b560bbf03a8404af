"""Writes the report: one HTML file with everything in it.

    the verdict, as a sentence
    the examined data, in numbers
    the flow, the times, the findings by kind            (`charts`)
    the streams, each with its verdict
    the findings, by kind: meaning, advice, times, messages
    the lines of the history behind them                 (`evidence`)
    the unjudged messages, and the histories

All data is escaped, nothing is loaded from anywhere, and it prints.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from html import escape
from importlib.resources import files
from string import Template
from typing import TYPE_CHECKING, Any

from reliquary.spark.pipelines.audit import charts, evidence
from reliquary.spark.pipelines.audit.charts import Series, Spread, number, span
from reliquary.spark.pipelines.audit.meanings import COLORS, MEANINGS, NAMES, WORDS
from reliquary.spark.pipelines.audit.streams import Stream
from reliquary.spark.pipelines.audit.verdicts import FindingKind, Verdict

if TYPE_CHECKING:
    from reliquary.spark.pipelines.audit.run import AuditReport


def write(report: AuditReport) -> None:
    """Write the page completely or not at all."""
    draft = report.page.with_suffix(".html.new")
    draft.write_text(page(report), encoding="utf-8")
    draft.replace(report.page)


def page(report: AuditReport) -> str:
    """Return the page as HTML text."""
    template = Template(files(__package__).joinpath("report.html").read_text(encoding="utf-8"))
    return template.substitute(
        tone=str(report.verdict),
        verdict=WORDS[report.verdict],
        sentence=escape(sentence(report)),
        period=escape(_period(report)),
        cards=_cards(report),
        flow=_flow(report),
        times=_times(report),
        kinds=_kinds(report),
        streams=_streams(report),
        findings=_findings(report),
        lines=evidence.lines(report),
        unjudged=_unjudged(report),
        histories=_histories(report),
        limits=escape(_limits(report)),
    )


def sentence(report: AuditReport) -> str:
    """Return the verdict in one sentence."""
    messages = sum(stream.sent for stream in report.streams)
    if report.verdict is Verdict.REFUTED:
        found = [f"{number(count)} {NAMES[kind].lower()}" for kind, count in report.found.items() if count]
        bad = sum(1 for stream in report.streams if stream.verdict is Verdict.REFUTED)
        return (
            f"Not every message was delivered as promised: {', '.join(found)}, "
            f"in {bad} of {len(report.streams)} streams."
        )
    if report.verdict is Verdict.NOT_JUDGED:
        open_ = sum(report.unjudged.values())
        return (
            f"No fault was found, but not everything could be judged: {number(open_)} messages are open, "
            "because "
            "histories are missing or do not reach far enough."
        )
    return (
        f"All {number(messages)} messages of {len(report.streams)} streams were delivered once, in order "
        "and in time, "
        "or are still on their way."
    )


def _moment(micros: int) -> str:
    return datetime.fromtimestamp(micros / 1e6, UTC).strftime("%Y-%m-%d %H:%M")


def _period(report: AuditReport) -> str:
    if not report.stretches:
        return "no history"
    begins = min(stretch.begins for stretch in report.stretches.values())
    ends = max(stretch.until for stretch in report.stretches.values())
    return f"{_moment(begins)} to {_moment(ends)} (UTC)"


def _cards(report: AuditReport) -> str:
    crossing = [stream for stream in report.streams if not stream.is_local]
    cards = (
        (number(len(report.stretches)), "queue managers"),
        (number(report.events), "recorded events"),
        (number(sum(stream.sent for stream in crossing)), "messages to other managers"),
        (number(sum(stream.arrived for stream in crossing)), "of them arrived"),
        (number(sum(stream.received for stream in report.streams if stream.is_local)), "messages read"),
        (number(sum(report.found.values())), "findings"),
    )
    return "".join(f"<div><b>{value}</b><span>{name}</span></div>" for value, name in cards)


def _flow(report: AuditReport) -> str:
    if not report.flow:
        return "<p>There were no messages.</p>"
    known = {column["at"]: column for column in report.flow}
    labels, places = _columns(report.flow)
    series = [
        Series(f"{name}", color, [known.get(at, {}).get(key, 0) for at in places])
        for key, name, color in (
            ("sent", "sent by applications", "#94a3b8"),
            ("arrived", "arrived from other managers", "#2563eb"),
            ("received", "read by applications", "#0f766e"),
        )
    ]
    chart = charts.lines("Messages over time", labels, series)
    return f"<p>Messages in every {span(report.flow[0]['width'] / 1e6)}.</p>{chart}"


def _times(report: AuditReport) -> str:
    timed = sorted(
        (stream for stream in report.streams if stream.times),
        key=lambda stream: -sum(stream.times.values()),
    )
    rows = [
        Spread(stream.text, *(stream.percentile(share) or 0.0 for share in (0.5, 0.9, 0.99, 1.0)))
        for stream in timed[:15]
    ]
    if not rows:
        return "<p>No message arrived or was read.</p>"
    more = f"<p>The {len(rows)} busiest of {len(timed)} streams.</p>" if len(timed) > len(rows) else ""
    return more + charts.spreads("How long messages took", rows)


def _kinds(report: AuditReport) -> str:
    rows = [(NAMES[kind], float(report.found[kind]), COLORS[kind]) for kind in FindingKind]
    return charts.bars("Findings by kind", rows)


def _chip(verdict: Verdict) -> str:
    return f'<span class="chip {verdict}">{WORDS[verdict]}</span>'


def _streams(report: AuditReport) -> str:
    order = {Verdict.REFUTED: 0, Verdict.NOT_JUDGED: 1, Verdict.PROVEN: 2}
    rows = sorted(report.streams, key=lambda stream: (order[stream.verdict], stream.is_local, stream.text))
    shown, most = "".join(map(_stream, rows[:300])), 300
    more = (
        f'<p class="more">{len(rows) - most} more are in the table <code>streams</code>.</p>'
        if len(rows) > most
        else ""
    )
    head = "".join(
        f"<th{' class=n' if place else ''}>{name}</th>"
        for place, name in enumerate(
            (
                "Stream",
                "Sent",
                "Arrived",
                "Read",
                "On the way",
                "Half within",
                "99 % within",
                "Findings",
                "Open",
            )
        )
    )
    return f"<table><thead><tr>{head}<th>Verdict</th></tr></thead><tbody>{shown}</tbody></table>{more}"


def _stream(stream: Stream) -> str:
    if stream.is_local:
        name = f"{_place(stream.source.text)} <i>and its readers</i>"
        arrived = ""
    else:
        to = stream.destination.text if stream.destination and stream.destination.hashed else "unknown"
        name = f"{_place(stream.source.text)} <i>to</i> {_place(to)}"
        arrived = number(stream.arrived)
    cells = (
        number(stream.sent), arrived, number(stream.received), number(stream.waiting),
        span(stream.percentile(0.5)), span(stream.percentile(0.99)),
        number(stream.faults), number(stream.not_judged),
    )  # fmt: skip
    numbers = "".join(f"<td class=n>{cell}</td>" for cell in cells)
    return f"<tr><td class=name>{name}</td>{numbers}<td>{_chip(stream.verdict)}</td></tr>"


def _place(text: str) -> str:
    manager, _, queue = text.partition(": ")
    return f"<b>{escape(manager)}</b> {escape(queue)}"


def _findings(report: AuditReport) -> str:
    if not sum(report.found.values()):
        return "<p>There are none.</p>"
    return "".join(_kind(report, kind, count) for kind, count in report.found.items() if count)


def _kind(report: AuditReport, kind: FindingKind, count: int) -> str:
    meaning, advice = MEANINGS[kind]
    rows = [place for place, row in enumerate(report.shown) if row["kind"] == kind]
    shown = "".join(_finding(report, place) for place in rows)
    more = ""
    if count > len(rows):
        more = (
            f'<p class="more">{number(count - len(rows))} more are in the table <code>findings</code> '
            "beside this "
            "page (Parquet).</p>"
        )
    return (
        f'<section class="kind"><h3><span style="background:{COLORS[kind]}"></span>{NAMES[kind]}: '
        f"{number(count)}</h3>"
        f"<p>{escape(meaning)}</p><p><b>What to do:</b> {escape(advice)}</p>{_over_time(report, kind)}"
        "<table><thead><tr><th>When (UTC)</th><th>Message</th><th>Where</th><th>What</th>"
        "<th>Proof</th></tr></thead>"
        f"<tbody>{shown}</tbody></table>{more}</section>"
    )


def _over_time(report: AuditReport, kind: FindingKind) -> str:
    """Return the times of the findings of one kind."""
    if not report.over_time:
        return ""
    labels, places = _columns(report.over_time)
    known = {column["at"]: column[kind] for column in report.over_time}
    series = Series(NAMES[kind], COLORS[kind], [known.get(at, 0) for at in places])
    return charts.lines(f"{NAMES[kind]} over time", labels, [series], height=150)


def _columns(columns: Sequence[Mapping[str, Any]]) -> tuple[list[str], Sequence[int]]:
    """Return the stretches of time of a chart and their labels; those without anything too, unless most have
    nothing."""
    width = columns[0]["width"]
    there = [column["at"] for column in columns]
    places: Sequence[int] = range(min(there), max(there) + width, width)
    if len(places) > 400:
        places = sorted(there)
    pattern = "%d %b %H:%M" if width < 86400_000_000 else "%d %b %Y"
    return [datetime.fromtimestamp(at / 1e6, UTC).strftime(pattern) for at in places], places


def _finding(report: AuditReport, place: int) -> str:
    row = report.shown[place]
    when = row["time"].strftime("%Y-%m-%d %H:%M:%S") if row["time"] else ""
    lineage, _, last = (row["message_id"] or "").partition("\\")
    proof = f"events {_ids(row['events'])} of {row['manager_name'] or row['manager']}"
    if row["other_events"]:
        proof += (
            f"; {_ids(row['other_events'])} there"
            if row["other_manager"]
            else f", {_ids(row['other_events'])}"
        )
    return (
        f'<tr id="finding-{place + 1}"><td>{when}</td>'
        f"<td class=id>{escape(lineage)}\\<b>{escape(last)}</b></td>"
        f"<td class=name>{escape(row['stream'] or '')}</td><td>{escape(row['sentence'])}"
        f"</td><td>{_linked(escape(proof), evidence.anchor(report, place))}</td></tr>"
    )


def _linked(text: str, name: str | None) -> str:
    return text if name is None else f'<a href="#{name}">{text}</a>'


def _ids(events: Iterable[int] | None) -> str:
    return ", ".join(str(each) for each in events or ())


def _unjudged(report: AuditReport) -> str:
    rows = [
        f"<tr><td class=name>{escape(stream.text)}</td><td class=n>{number(count)}</td>"
        f"<td>{escape(reason.sentence)}</td></tr>"
        for stream in report.streams
        for reason, count in stream.unjudged.items()
    ]
    if not rows:
        return "<p>Everything that left a queue could be judged.</p>"
    more = (
        f'<p class="more">{len(rows) - 300} more rows are in the table <code>streams</code>.</p>'
        if len(rows) > 300
        else ""
    )
    return (
        "<p>These are neither faults nor proven. Give the histories of all managers, name destinations with "
        "<code>--route</code>, or run the audit again when newer files are there.</p>"
        "<table><thead><tr><th>Stream</th><th class=n>Messages</th><th>Why</th></tr></thead>"
        f"<tbody>{''.join(rows[:300])}</tbody></table>{more}"
    )


def _histories(report: AuditReport) -> str:
    rows = []
    for manager, stretch in sorted(report.stretches.items(), key=lambda item: report.names.get(item[0], "")):
        holes = "none"
        if stretch.holes:
            first = "; ".join(f"{_moment(begin)} to {_moment(end)}" for begin, end in stretch.holes[:3])
            holes = f"{len(stretch.holes)}: {first}{' …' if len(stretch.holes) > 3 else ''}"
        since = _moment(stretch.begins) + ("" if stretch.since is None else " (older events are gone)")
        rows.append(
            f"<tr><td class=name><b>{escape(report.names.get(manager) or '')}</b> {escape(manager)}</td>"
            f"<td class=n>{number(stretch.events)}</td><td>{since}</td><td>{_moment(stretch.until)}</td>"
            f"<td>{holes}</td></tr>"
        )
    return (
        "<table><thead><tr><th>Manager</th><th class=n>Events</th><th>From</th><th>Until</th><th>Missing"
        "</th></tr>"
        f"</thead><tbody>{''.join(rows)}</tbody></table>"
    )


def _limits(report: AuditReport) -> str:
    limits = report.limits
    return (
        f"A message is late after {span(limits.late / 1e6)}, in doubt too long after "
        f"{span(limits.doubt / 1e6)}; clocks of "
        f"two managers may differ by {span(limits.grace / 1e6)}. Times of streams are right to four percent."
    )
