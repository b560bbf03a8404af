"""Writes the part of the report that shows the lines of the history behind its findings.

a finding   events 12, 15 of alpha --link--> #lines-3   these events, as the files have them
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import TYPE_CHECKING, Any, Final

from reliquary.spark.pipelines.audit.quotes import proofs

if TYPE_CHECKING:
    from reliquary.spark.pipelines.audit.run import AuditReport

_COLUMNS: Final = {
    "event_id": "Event", "time": "When (UTC)", "event": "What", "queue": "Queue", "stream_number": "Number",
    "reason": "Reason", "protocol": "Protocol", "peer": "Peer", "batch": "Batch",
}  # fmt: skip


def anchor(report: AuditReport, place: int) -> str | None:
    """Return the anchor of the lines of a finding; None if none of its files could be opened."""
    row = report.shown[place]
    return f"lines-{place + 1}" if any(proof in report.quoted for proof in proofs(row)) else None


def lines(report: AuditReport) -> str:
    """Return the lines of all findings that have some."""
    parts = [
        _section(report, place, name) for place in range(len(report.shown)) if (name := anchor(report, place))
    ]
    return "".join(parts) or "<p>There are none.</p>"


def _section(report: AuditReport, place: int, name: str) -> str:
    row = report.shown[place]
    proved = proofs(row)
    tables = [
        _table(report, manager, {event for of, event in proved if of == manager})
        for manager in dict.fromkeys(manager for manager, _ in proved)
    ]
    title = f"{place + 1}. {row['message_id'] or 'a message without an identifier'}"
    return (
        f'<section class="lines" id="{name}"><h3>{escape(title)}</h3><p>{escape(row["sentence"])} '
        f'<a href="#finding-{place + 1}">Back to the finding</a></p>{"".join(tables)}</section>'
    )


def _table(report: AuditReport, manager: str, events: set[int]) -> str:
    """Return the lines of one manager."""
    rows = [report.quoted[manager, event] for event in sorted(events) if (manager, event) in report.quoted]
    if not rows:
        return ""
    used = [name for name in _COLUMNS if any(line.get(name) is not None for line in rows)]
    head = "".join(f"<th>{_COLUMNS[name]}</th>" for name in used)
    body = "".join(_line(line, used) for line in rows)
    called = report.names.get(manager) or manager
    return f"<p><b>{escape(called)}</b></p><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _line(line: Mapping[str, Any], used: list[str]) -> str:
    cells = "".join(f"<td>{escape(str(line.get(name, '')))}</td>" for name in used)
    return f"<tr>{cells}</tr>"
