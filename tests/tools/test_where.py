"""Tests `./dev where`: an id is answered with its words, its functions, their neighbours and its tests."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import where

FILES = {
    "docs/requirements/text.md": (
        "# Text\n\n| DM-001 | 3.1 | MUST | a first thing |\n| DM-002 | - | DEF | a second thing |\n"
    ),
    "docs/requirements/anomalies.md": "# Readings\n\n| AN-01 | 3.2 | the safe one | DM-001 |\n",
    "src/rules.py": (
        '"""Rules."""\n\ndef first():\n    pass  # DM-001\n\ndef second():\n    """DM-002."""\n\n'
        "def third(): ...\n\nLIMIT = 1  # AN-01\nOTHER = 2\n"
    ),
    "src/far.py": "def far():\n    pass  # DM-002\n",
    "tests/test_rules.py": '@pytest.mark.spec("DM-001")\ndef test_first(): ...\n',
}


@pytest.fixture(autouse=True)
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a small project with two requirements, three functions and a test."""
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(where, "ROOT", tmp_path)
    return tmp_path


def test_an_id_is_answered_with_its_functions_their_neighbours_and_its_tests(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert where.main(["dm-001"]) == 0
    lines = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert lines == [
        "DM-001 (MUST, section 3.1): a first thing",
        "",
        "Obeyed in",
        "src/rules.py:3 first",
        "",
        "Beside it in src/rules.py",
        "6 second DM-002",
        "9 third -",
        "11 LIMIT AN-01",
        "",
        "Shown by",
        "tests/test_rules.py::test_first",
    ]


def test_every_file_that_cites_a_requirement_is_named(root: Path) -> None:
    lines = list(where.answer(root, "DM-002"))
    assert "  src/far.py:1  far" in lines
    assert "  src/rules.py:6  second" in lines
    assert lines[-1] == "  no test is marked with it"


def test_an_anomaly_is_shown_by_the_tests_of_what_it_touches(root: Path) -> None:
    lines = list(where.answer(root, "AN-01"))
    assert lines[0] == "AN-01 (our reading, section 3.2): the safe one"
    assert lines[-1] == "  tests/test_rules.py::test_first"


def test_a_requirement_without_a_place_says_so(root: Path) -> None:
    (root / "src" / "rules.py").write_text('"""Rules."""\n')
    assert "  no place in src cites it" in where.answer(root, "DM-001")


def test_an_id_that_does_not_exist_gets_one_sentence_and_exit_code_1(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert where.main(["DM-999"]) == 1
    assert capsys.readouterr() == ("", "docs/requirements has no requirement DM-999.\n")


@pytest.mark.parametrize("arguments", [[], ["--help"]])
def test_without_an_id_the_usage_is_printed(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert where.main(arguments) == 2
    assert capsys.readouterr().err.startswith("usage: ./dev where ID")
