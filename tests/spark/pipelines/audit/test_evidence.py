"""Lines of the history in the report: every link leads to some, and they are escaped."""

from __future__ import annotations

import re
from pathlib import Path

from reliquary.spark.pipelines.audit.report import page
from reliquary.spark.pipelines.audit.verdicts import FindingKind
from tests.spark.pipelines.audit.test_report import EVIL, finding, report_of


def test_a_finding_leads_to_the_lines_of_its_message_and_back(tmp_path: Path) -> None:
    shown = [finding(number, kind) for number, kind in enumerate(FindingKind, 2)]
    text = page(report_of(dict.fromkeys(FindingKind, 1), {}, shown, tmp_path))
    names = re.findall(r'id="([^"]+)"', text)
    links = re.findall(r'href="#([^"]+)"', text)
    assert len(links) == 2 * len(shown)
    assert set(links) <= set(names)
    assert len(names) == len(set(names))
    assert EVIL not in text


def test_a_finding_whose_files_are_gone_has_no_link(tmp_path: Path) -> None:
    lonely = finding(7, FindingKind.LOST) | {"events": [7]}
    text = page(report_of({FindingKind.LOST: 1}, {}, [lonely], tmp_path))
    assert "href" not in re.sub(r"&lt;.*?&gt;", "", text)
