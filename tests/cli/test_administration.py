"""Tests commands that are built from a declaration: what they print for a person and for a pipe."""

from __future__ import annotations

import click
from click.testing import CliRunner

from reliquary.cli.administration import group_of, groups
from reliquary.client.nouns import NOUNS
from tests.client.labels import LABEL


def test_every_noun_has_a_group() -> None:
    assert list(groups({})) == [noun.name for noun in NOUNS]


def test_commands_that_are_written_by_hand_stand_beside_those_of_the_declaration() -> None:
    assert groups({})["consumer"].commands == {}
    by_hand = groups({"writer": (click.Command("forget"),)})
    assert sorted(by_hand["writer"].commands) == ["forget", "list", "show"]


def test_a_group_lists_shows_and_acts() -> None:
    group = group_of(LABEL)
    assert sorted(group.commands) == ["list", "show", "write"]
    text = CliRunner().invoke(group, ["write", "--help"], prog_name="label").output
    assert (
        text
        == """Usage: label write [OPTIONS] QUEUE

  Write on QUEUE.

  What was there before is gone.

  Examples:
    reliquary label write orders --text 'rush hour'

Options:
  --text TEXT       What to write.  [required]
  --json / --table  JSON lines, or a table; without either, a table for a person
                    and JSON to a pipe.
  --help            Show this message and exit.
"""
    )
