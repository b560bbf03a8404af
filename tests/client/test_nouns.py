"""Tests the list of nouns: no two of them meet at one place."""

from __future__ import annotations

from reliquary.cli.main import cli
from reliquary.client.nouns import NOUNS


def test_no_two_nouns_have_one_name_or_one_path() -> None:
    assert len({noun.name for noun in NOUNS}) == len({noun.plural for noun in NOUNS}) == len(NOUNS)


def test_no_noun_has_the_name_of_another_command() -> None:
    assert {noun.name for noun in NOUNS}.isdisjoint(cli.commands)
