"""Tests `./dev docs`: a page is stale until it is what its generator makes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tools import docs


class Greeting:
    """A generator of one page."""

    PAGE = Path("docs/reference/greeting.md")

    def __init__(self, text: str | None) -> None:
        self.text = text

    def page(self, root: Path) -> str | None:
        return self.text


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(docs, "ROOT", tmp_path)
    monkeypatch.setattr(docs, "GENERATORS", (Greeting("hello\n"),))
    monkeypatch.setattr(docs, "GROUPS", ())
    return tmp_path


def test_check_names_the_page_and_the_command_and_writes_nothing(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert docs.main(["--check"]) == 1
    assert capsys.readouterr().err == "docs/reference/greeting.md is out of date: run ./dev docs\n"
    assert not (root / Greeting.PAGE).exists()


def test_what_was_written_passes_the_check(root: Path) -> None:
    assert docs.main([]) == 0
    assert (root / Greeting.PAGE).read_text() == "hello\n"
    assert docs.main(["--check"]) == 0


def test_a_generator_without_a_source_is_passed_over(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "GENERATORS", (Greeting(None),))
    assert docs.main(["--check"]) == 0


class Greetings:
    """A generator of several pages."""

    def pages(self, root: Path) -> dict[Path, str]:
        return {Path("docs/one.txt"): "one\n", Path("docs/two.txt"): "two\n"}


def test_a_group_writes_all_its_files(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(docs, "GROUPS", (Greetings(),))
    assert docs.main([]) == 0
    assert (root / "docs/two.txt").read_text() == "two\n"
    (root / "docs/one.txt").write_text("changed\n")
    assert [str(path) for path in docs.stale(root)] == ["docs/one.txt"]


def test_an_unknown_argument_is_refused(root: Path) -> None:
    assert docs.main(["--chekc"]) == 2
