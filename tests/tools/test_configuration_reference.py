"""Tests the page of settings: every setting with its type, default and meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.base.time import Duration
from reliquary.server.loading import NAMES, TABLES
from tools import configuration_reference as reference

PAGE = reference.page(Path())


def test_every_setting_is_on_the_page() -> None:
    tables = {table.name for table in TABLES}
    assert [name for name in NAMES if name not in tables and f"| `{name}` |" not in PAGE] == []
    for table in TABLES:
        part = PAGE.partition(f"## `[{table.name}]`")[2].partition("\n## ")[0]
        assert [name for name in table.names if f"| `{name}` |" not in part] == []


def test_every_setting_has_a_meaning() -> None:
    assert [f"{each.table}.{each.name}" for each in reference.settings({}) if not each.meaning] == []


def test_every_field_of_a_row_has_a_meaning() -> None:
    assert [line for line in PAGE.splitlines() if line.endswith("|  |")] == []


def test_a_row_has_the_variable_and_the_option() -> None:
    assert "| `data_port` | integer | `8480` | `RELIQUARY_DATA_PORT`, `--port` |" in PAGE
    assert "RELIQUARY_WSRM_PEERS" not in PAGE  # it stands in the file alone
    assert "`RELIQUARY_PEERS`" not in PAGE
    assert "`RELIQUARY_QUEUE`" not in PAGE
    assert "### Fields of `wsrm.peers`" in PAGE


@pytest.mark.parametrize(
    ("hint", "words"),
    [
        (int | None, "integer"),
        (tuple[str, ...], "list of strings"),
        (Duration, "seconds"),
        (tuple[Duration, ...], "list of seconds"),
        (dict[str, str], "table"),
    ],
)
def test_a_type_is_said_in_words(hint: object, words: str) -> None:
    assert reference.type_words(hint) == words
