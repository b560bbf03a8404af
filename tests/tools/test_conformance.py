"""Tests the conformance page: marks, places and departures are found, and what does not fit is refused by
name.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import conformance

REQUIREMENTS = """\
# What the text asks for

| Id | Section | Level | In a few words |
|---|---|---|---|
| DM-001 | 3.1.1 | MUST | a first thing |
| DM-002 | 3.1.2 | MUST NOT | a second thing |
| DM-003 | 3.1.3 | SHOULD | a third thing |
| DM-004 | - | DEF | a fourth thing |
"""

ANOMALIES = """\
# How we read it

| Id | Section | The reading we follow | Touches |
|---|---|---|---|
| AN-01 | 3.1.2 | the safe one | DM-002 |
| AN-02 | 3.1.9 | fills a gap | |
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """Return a small project with lists of requirements and nothing shown yet."""
    write(tmp_path, "docs/requirements/text.md", REQUIREMENTS)
    write(tmp_path, "docs/requirements/anomalies.md", ANOMALIES)
    (tmp_path / "src").mkdir()
    (tmp_path / "tests").mkdir()
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def row(page: str, start: str) -> str:
    return next(line for line in page.splitlines() if line.startswith(f"| {start} "))


def test_with_no_marks_nothing_is_shown(project: Path) -> None:
    page = conformance.page(project)
    assert row(page, "all") == "| all | 0 | 0 | 0 | 4 | 4 |"
    assert page.endswith("## Departures\n\nNone.\n")


@pytest.mark.parametrize(
    ("source", "name"),
    [
        pytest.param('@pytest.mark.spec("DM-001")\ndef test_a(): ...', "::test_a", id="a function"),
        pytest.param('@pytest.mark.spec("DM-001")\nasync def test_a(): ...', "::test_a", id="a coroutine"),
        pytest.param('@pytest.mark.spec("DM-001")\nclass TestA: ...', "::TestA", id="a class"),
        pytest.param(
            'class TestA:\n  @pytest.mark.spec("DM-001")\n  def test_a(self): ...',
            "::TestA::test_a",
            id="a method",
        ),
        pytest.param('pytestmark = pytest.mark.spec("DM-001")', "", id="a module"),
        pytest.param('pytestmark = [pytest.mark.spec("DM-001")]', "", id="a module with a list"),
        pytest.param(
            '@pytest.mark.parametrize("x", [pytest.param(1, marks=pytest.mark.spec("DM-001"))])'
            "\ndef test_a(): ...",
            "::test_a",
            id="a case",
        ),
    ],
)
def test_a_mark_is_found_on(project: Path, source: str, name: str) -> None:
    write(project, "tests/test_it.py", source)
    page = conformance.page(project)
    assert row(page, "DM-001") == (
        f"| DM-001 | 3.1.1 | MUST | a first thing | shown | - | `tests/test_it.py{name}` |"
    )


def test_a_requirement_has_links_to_the_files_that_cite_it_with_the_names_of_the_functions(
    project: Path,
) -> None:
    write(
        project, "src/reliquary/b.py", "class It:\n    size: int  # DM-001\n\ndef go():\n    pass  # DM-001\n"
    )
    write(project, "src/reliquary/a.py", '"""The room of DM-001."""\n')
    assert row(conformance.page(project), "DM-001") == (
        "| DM-001 | 3.1.1 | MUST | a first thing | not yet "
        "| [a.py](../../src/reliquary/a.py)<br>[b.py](../../src/reliquary/b.py) `It.size`, `go` |  |"
    )


def test_must_not_counts_as_must(project: Path) -> None:
    write(project, "tests/test_it.py", '@pytest.mark.spec("DM-001", "DM-002")\ndef test_a(): ...')
    assert row(conformance.page(project), "MUST") == "| MUST | 2 | 0 | 0 | 0 | 2 |"


def test_a_departure_goes_on_over_comment_lines_and_touches_what_its_anomaly_touches(project: Path) -> None:
    write(
        project,
        "src/it.py",
        "class It:\n    def go(self):\n"
        "        # DEPARTS from 3.1.2 (AN-01): we do the safe thing,\n"
        "        # because the other | loses.\n"
        "        return 1  # not part of it\n",
    )
    page = conformance.page(project)
    assert row(page, "DM-002").endswith("| a second thing | departed | - |  |")
    assert row(page, "3.1.2") == (
        "| 3.1.2 | AN-01 | we do the safe thing, because the other \\| loses. | `src/it.py::It::go` |"
    )


def test_what_is_announced_as_a_second_stage_is_neither_shown_nor_missing(project: Path) -> None:
    write(project, "src/it.py", "# SECOND STAGE (DM-001, DM-003): it is refused.\n")
    write(project, "tests/test_it.py", '@pytest.mark.spec("DM-001", "DM-002", "DM-003")\ndef test_a(): ...')
    page = conformance.page(project)
    assert "| second stage | [it.py]" in row(page, "DM-001").replace("../../src/it.py", "").replace(
        "src/", ""
    )
    assert (row(page, "MUST"), row(page, "all")) == (
        "| MUST | 1 | 0 | 1 | 0 | 2 |",
        "| all | 1 | 0 | 2 | 1 | 4 |",
    )


def test_departures_are_in_the_order_of_the_sections(project: Path) -> None:
    write(
        project,
        "src/it.py",
        "# DEPARTS from 3.1.10 (DM-001): last.\n# DEPARTS from 3.1.9 (AN-01, DM-003): first.\n",
    )
    page = conformance.page(project)
    assert page.index("| first. |") < page.index("| last. |")


@pytest.mark.parametrize(
    ("name", "source", "sentence"),
    [
        (
            "tests/test_it.py",
            '@pytest.mark.spec("DM-9")\ndef test_a(): ...',
            r"test_it\.py::test_a: no req.* DM-9 ",
        ),
        (
            "tests/test_it.py",
            "@pytest.mark.spec(NAME)\ndef test_a(): ...",
            r"test_it\.py: write .*spec\(NAME\)",
        ),
        ("src/it.py", "# DEPARTS from 3.1 (AN-77): so.", r"src/it\.py: no requirement or anomaly AN-77 "),
        ("src/it.py", "def go():\n    pass  # DM-005", r"src/it\.py::go: no requirement or anomaly DM-005 "),
        ("src/it.py", "\n# DEPARTS because we like it", r"src/it\.py:2: write a departure as"),
        ("src/it.py", "# SECOND STAGE: all the rest", r"src/it\.py:1: write `# SECOND STAGE"),
        ("src/it.py", "# SECOND STAGE (DM-009): so.", r"DM-009"),
        ("src/it.py", "# SECOND STAGE (DM-001): so.", r"src/it\.py:1: no test is marked with DM-001 "),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(
    project: Path, name: str, source: str, sentence: str
) -> None:
    write(project, name, source)
    with pytest.raises(conformance.Unclear, match=sentence):
        conformance.page(project)


def test_our_own_lists_are_complete() -> None:
    folder = Path(__file__).parents[2] / "docs" / "requirements"
    (core,) = (spec for spec in conformance.specifications(folder) if spec.requirements[0].id == "DM-001")
    assert [one.id for one in core.requirements] == [f"DM-{number:03}" for number in range(1, 332)]
    readings = conformance.anomalies(folder)
    assert [one.id for one in conformance.readings(folder)] == list(readings)
    assert list(readings) == [f"AN-{number:02}" for number in range(1, 51)]
    assert {spec_id for touched in readings.values() for spec_id in touched} <= {
        one.id for one in core.requirements
    }
