"""Tests settings in force as TOML: what is shown can be read again, and secrets are not shown."""

from __future__ import annotations

import tomllib
from pathlib import Path

from reliquary.server.effective import HIDDEN, entries, text_of
from reliquary.server.loading import NAMES, TABLES, load, load_with_origins
from reliquary.server.origins import DEFAULT

SECRET = "b" * 64
TEXT = f"""\
folder = "data"
low_space = 7
queues = ["orders", "invoices"]

[wsrm]
response_time = 2.5
tokens = {{"https://far.example" = "open-sesame"}}

[limits]
connections = 5

[mqqp]
protection = "none"

[[mqqp.servers]]
name = "far"
user = "reader"
password = "open-sesame"

[[users]]
name = "alice"
token_sha256 = "{SECRET}"
groups = ["administrators"]
"""


def test_all_settings_are_there_once_with_their_origin(tmp_path: Path) -> None:
    file = tmp_path / "reliquary.toml"
    file.write_text(TEXT)
    found = {(each.table, each.name): each for each in entries(load_with_origins(file))}
    tables = {table.name for table in TABLES}
    assert {name for table, name in found if not table} == set(NAMES) - tables
    assert {table for table, _ in found if table} == tables
    assert found["wsrm", "response_time"].value == 2.5
    assert found["", "low_space"].origin == f"{file}:2"
    assert found["", "data_port"].origin == DEFAULT


def test_what_is_shown_means_what_it_was_made_of(tmp_path: Path) -> None:
    file = tmp_path / "reliquary.toml"
    file.write_text(TEXT)
    shown = tomllib.loads(
        text_of(each for each in entries(load_with_origins(file)) if each.origin != DEFAULT)
    )
    (alice,) = shown.pop("users")
    assert (alice["name"], alice["token_sha256"], alice["groups"]) == ("alice", HIDDEN, ["administrators"])
    assert shown["wsrm"].pop("tokens") == HIDDEN
    again = load(None, None, shown)
    assert (again.low_space, again.queues, again.limits) == (7, ("orders", "invoices"), load(file).limits)


def test_no_secret_is_shown(tmp_path: Path) -> None:
    file = tmp_path / "reliquary.toml"
    file.write_text(TEXT)
    text = text_of(entries(load_with_origins(file)))
    assert SECRET not in text
    assert "open-sesame" not in text
