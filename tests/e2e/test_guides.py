"""Guides are pasted into a terminal, block by block: what stands there works as it stands there.

Only ports are replaced, because the tests leave the usual ones alone; `pasted` has the rules of a guide.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.pasted import PASTED, SHOWN, Block, Terminal, blocks_of, outside_of_blocks

ROOT = Path(__file__).parents[2]
GUIDES = [
    ROOT / "README.md",
    *(path for folder in ("start", "guides") for path in sorted((ROOT / "docs" / folder).glob("*.md"))),
]
IN_FULL = ["README", "lake", "spark"]
"""These have blocks for the long tests."""


def paste(guide: str, folder: Path, *skipped: str) -> int:
    """Paste all blocks of a guide but those with these remarks; return how many were pasted."""
    (path,) = [each for each in GUIDES if each.stem == guide]
    blocks = [each for each in blocks_of(path.read_text()) if each.language in PASTED]
    pasted = 0
    with Terminal(folder) as terminal:
        for block in blocks:
            if block.remark not in skipped:
                try:
                    terminal.paste(block)
                except AssertionError as why:
                    raise AssertionError(f"{path.name}, line {block.line}: {why}") from why
                pasted += 1
    return pasted


@pytest.mark.timeout(900)  # each command is a process, and a busy machine starts them slowly
@pytest.mark.parametrize("guide", [path.stem for path in GUIDES])
def test_a_guide_works_as_it_stands_there(guide: str, tmp_path: Path) -> None:
    paste(guide, tmp_path, "not run", "long")


@pytest.mark.long  # they start Spark
@pytest.mark.timeout(900)
@pytest.mark.parametrize("guide", IN_FULL)
def test_a_guide_with_spark_works_as_it_stands_there(guide: str, tmp_path: Path) -> None:
    pytest.importorskip("pyspark")
    assert paste(guide, tmp_path, "not run") >= 3


def test_only_these_guides_have_blocks_for_the_long_tests() -> None:
    found = {path.stem for path in GUIDES for each in blocks_of(path.read_text()) if each.remark == "long"}
    assert found == {*IN_FULL}


@pytest.mark.parametrize("guide", GUIDES, ids=[path.stem for path in GUIDES])
def test_every_block_says_its_language(guide: Path) -> None:
    text = guide.read_text()
    assert outside_of_blocks(text) == []
    assert {each.language for each in blocks_of(text)} <= PASTED | SHOWN


# -- the terminal itself


def failing(folder: Path, language: str, text: str) -> str:
    """Return what the terminal says of a block that does not work."""
    with Terminal(folder) as terminal, pytest.raises(AssertionError) as wrong:
        terminal.paste(Block(1, language, text))
    return str(wrong.value)


def test_blocks_are_found_with_their_languages_and_remarks() -> None:
    text = "a\n\n```sh\none\n```\n<!-- not run: because -->\n```python\ntwo\nthree\n```\n- no\n\n    code\n"
    assert blocks_of(text) == [Block(3, "sh", "one\n"), Block(7, "python", "two\nthree\n", "not run")]
    assert outside_of_blocks(text) == ["    code"]


def test_a_command_that_fails_is_noticed(tmp_path: Path) -> None:
    assert "a failure" in failing(tmp_path, "sh", "true\necho a failure >&2; false\necho after\n")


def test_output_that_is_not_the_one_shown_is_noticed(tmp_path: Path) -> None:
    assert "was not printed" in failing(tmp_path, "sh", "echo one    # prints two\n")


def test_a_session_shows_all_that_is_printed(tmp_path: Path) -> None:
    with Terminal(tmp_path) as terminal:
        terminal.paste(Block(1, "console", "$ echo one; echo 2026-11-16 two\none\n… two\n$ true\n"))
    assert "one" in failing(tmp_path, "console", "$ echo one\ntwo\n")


def test_a_program_that_fails_is_noticed(tmp_path: Path) -> None:
    assert "ZeroDivisionError" in failing(tmp_path, "python", "1 / 0\n")


def test_the_shell_and_python_remember_what_was_pasted_before(tmp_path: Path) -> None:
    with Terminal(tmp_path) as terminal:
        for block in (
            Block(1, "sh", "greet() { echo hello; }; export NAME=orders\n"),
            Block(1, "sh", "greet    # prints hello\ntest $NAME = orders\n"),
            Block(1, "python", "number = 7\n"),
            Block(1, "python", "assert number == 7\n"),
        ):
            terminal.paste(block)
