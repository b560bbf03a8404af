"""Tests the page: escaped, whole without network, for no findings and for very many."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from reliquary.spark.pipelines.audit.coverage import CoveredInterval, TracedQueue
from reliquary.spark.pipelines.audit.meanings import MEANINGS, NAMES
from reliquary.spark.pipelines.audit.report import page, write
from reliquary.spark.pipelines.audit.rules import Limits
from reliquary.spark.pipelines.audit.run import SHOWN, AuditReport
from reliquary.spark.pipelines.audit.streams import Stream
from reliquary.spark.pipelines.audit.verdicts import FindingKind, Reason, Verdict

EVIL = "<img src=http://evil/x onerror=alert(1)>"
BEGIN = 1_772_000_000_000_000


def report_of(
    found: dict[FindingKind, int], unjudged: dict[Reason, int], shown: list[dict[str, Any]], tmp_path: Path
) -> AuditReport:
    source = TracedQueue(1, 1, "a", EVIL, f"DIRECT=HTTP://beta/{EVIL}", "outgoing")
    stream = Stream(source, TracedQueue(2, 2, "b", "beta", EVIL, "local"), sent=9, times={100: 5, 300: 1})
    stream.found, stream.unjudged = found, unjudged
    flow = [
        {"at": BEGIN + n * 3600_000_000, "sent": n, "arrived": 1, "received": 0, "width": 3600_000_000}
        for n in (0, 9)
    ]
    return AuditReport(
        verdict=stream.verdict,
        streams=[stream, Stream(TracedQueue(3, 2, "b", "beta", "q", "local"), None)],
        stretches={"a": CoveredInterval(None, BEGIN + 36_000_000_000, ((BEGIN, BEGIN + 5),), 99, BEGIN)},
        names={"a": EVIL},
        shown=shown,
        quoted={("a", 1): {"event_id": 1, "time": "now", "event": "queued", "queue": EVIL, "message": 5}},
        over_time=[{"at": BEGIN, "width": 3600_000_000, **dict.fromkeys(FindingKind, 2)}],
        flow=flow,
        limits=Limits(),
        page=tmp_path / "report.html",
        new_files=1,
    )


def finding(number: int, kind: FindingKind) -> dict[str, Any]:
    return {
        "kind": kind, "stream": EVIL, "message_id": f"{EVIL}\\{number}", "manager": "a", "manager_name": EVIL,
        "queue": EVIL, "other_manager": None, "other_queue": None, "events": [1, number], "other_events": [],
        "time": datetime(2026, 3, 1, tzinfo=UTC), "sentence": f"The message {EVIL}.",
    }  # fmt: skip


class Tags(HTMLParser):
    """A parser that collects the tags and checks that they close."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)
        if tag != "meta":
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def read(text: str) -> list[str]:
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    return tags.seen


@pytest.mark.parametrize("count", [0, 1, 10_000])
def test_a_page_is_whole_and_loads_nothing(tmp_path: Path, count: int) -> None:
    shown = [finding(number, FindingKind.LOST) for number in range(min(count, SHOWN))]
    report = report_of({FindingKind.LOST: count} if count else {}, {}, shown, tmp_path)
    text = page(report)
    seen = read(text)
    assert not {"img", "script", "link", "iframe"} & set(seen)
    assert not re.search(r"src=|href=(?!\"#)", re.sub(r"&lt;.*?&gt;", "", text))
    assert "url(" not in text
    assert ("more are in the table" in text) == (count > SHOWN)
    assert len(text) < 2_000_000


def test_the_verdict_comes_first_as_a_sentence(tmp_path: Path) -> None:
    proven = page(report_of({}, {}, [], tmp_path))
    refuted = page(report_of({FindingKind.LOST: 3, FindingKind.LATE: 1}, {}, [], tmp_path))
    open_ = page(report_of({}, {Reason.NO_HISTORY: 4}, [], tmp_path))
    assert "All 9 messages of 2 streams were delivered once" in proven
    assert "3 lost, 1 late, in 1 of 2 streams" in refuted
    assert "4 messages are open" in open_
    for text, verdict in ((proven, Verdict.PROVEN), (refuted, Verdict.REFUTED), (open_, Verdict.NOT_JUDGED)):
        assert text.index(f'class="verdict {verdict}"') < text.index("<svg")
    assert Reason.NO_HISTORY.sentence in open_


def test_every_kind_is_explained_and_says_what_to_do(tmp_path: Path) -> None:
    text = page(
        report_of(dict.fromkeys(FindingKind, 1), {}, [finding(1, kind) for kind in FindingKind], tmp_path)
    )
    assert text.count("What to do:") == len(FindingKind)
    for kind in FindingKind:
        assert NAMES[kind] in text
        assert MEANINGS[kind][0].split(",")[0] in text


def test_a_page_is_written_whole(tmp_path: Path) -> None:
    report = report_of({}, {}, [], tmp_path)
    write(report)
    assert report.page.read_text(encoding="utf-8") == page(report)
    assert list(tmp_path.iterdir()) == [report.page]


def test_every_kind_has_a_chart_over_time(tmp_path: Path) -> None:
    text = page(
        report_of(dict.fromkeys(FindingKind, 1), {}, [finding(1, kind) for kind in FindingKind], tmp_path)
    )
    for kind in FindingKind:
        assert f'aria-label="{NAMES[kind]} over time"' in text
