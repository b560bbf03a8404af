"""Tests of help texts as pages show them."""

from __future__ import annotations

import pytest

from reliquary.client.nouns import NOUNS
from reliquary.console.web.pages import has_page
from reliquary.console.web.texts import (
    DONE,
    EMPTY,
    choices,
    column_class,
    heading,
    introduction,
    marked,
    prose,
)
from reliquary.queueing.model.administration import Parameter


def test_every_page_of_records_says_when_records_appear() -> None:
    assert set(EMPTY) == {noun.plural for noun in NOUNS if has_page(noun)}


def test_a_text_is_escaped_and_its_paragraphs_are_kept() -> None:
    assert prose("`a<b`\n\n& so on") == "<p><em>a&lt;b</em></p><p>&amp; so on</p>"


def test_the_key_stands_where_the_command_line_has_its_argument() -> None:
    assert prose("Close NAME, not NAMES.", "name", "<x>") == "<p>Close &lt;x&gt;, not NAMES.</p>"


@pytest.mark.parametrize(
    ("cell", "expected"),
    [
        (7, "number"),
        (False, "word"),
        ("by-wsrm", "word"),
        ("2026-11-18T17:36:52.722542Z", "time"),
        ("2026-11-18T17:36:52+00:00", "time"),
        ("2b4517ff-ea9c-4858-bec4-0471b911c969", "long"),
        ("a queue of this name exists already", "text"),
        ("two words", ""),
        (["a", "b"], ""),
    ],
)
def test_a_cell_is_broken_into_lines_only_where_it_is_long(cell: object, expected: str) -> None:
    assert column_class(cell) == expected


@pytest.mark.parametrize("noun", [noun for noun in NOUNS if has_page(noun)], ids=lambda noun: noun.name)
def test_no_act_names_an_argument_that_a_page_does_not_have(noun: object) -> None:
    for act in noun.acts:  # type: ignore[attr-defined]
        shown = prose(act.help, noun.showing.key, "7")  # type: ignore[attr-defined]
        assert "`" not in shown
        assert noun.showing.key.upper() not in shown.split()  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("kind", "option", "words"),
    [(bool, "--arrived/--lost", ("arrived", "lost")), (bool, "--force", None), (str, "--a/--b", None)],
)
def test_only_a_choice_of_two_has_two_words(
    kind: type[bool] | type[str], option: str, words: tuple[str, str] | None
) -> None:
    assert choices(Parameter(name="x", kind=kind, option=option, help="")) == words


def test_abbreviations_are_written_in_capitals() -> None:
    assert (heading("url"), heading("next_resend")) == ("URL", "next resend")


@pytest.mark.parametrize("noun", [noun for noun in NOUNS if has_page(noun)], ids=lambda noun: noun.name)
def test_every_page_of_records_begins_with_what_it_lists(noun: object) -> None:
    assert introduction(noun.listing.help).startswith("<p>This page lists ")  # type: ignore[attr-defined]


def test_commands_in_a_sentence_are_marked_and_the_rest_is_escaped() -> None:
    assert marked("`a <b>` & `c`") == "<code>a &lt;b&gt;</code> &amp; <code>c</code>"


def test_every_act_says_what_has_happened() -> None:
    verbs = {act.verb for noun in NOUNS if has_page(noun) for act in noun.acts}
    assert set(DONE) == verbs | {"commit", "abort"}
