"""Tests other managers in the settings: their addresses, tokens and certificates."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.server.config import Settings
from reliquary.server.effective import entries, text_of
from reliquary.server.loading import load, load_with_origins
from reliquary.server.peer_entries import PeerEntry, peers_of
from tests.console.harness import Harness, play

TEXT = """
[[peers]]
name = "depot"
control = "https://depot.example:8481"
token_file = "{file}"

[[peers]]
name = "shop"
control = "http://127.0.0.1:8491"
token = "word-of-shop"
"""


def test_peers_come_from_the_file_with_their_tokens(tmp_path: Path) -> None:
    token = tmp_path / "depot.token"
    token.write_text("word-of-depot\n")
    file = tmp_path / "settings.toml"
    file.write_text(TEXT.format(file=token))
    found = peers_of(load(file).peers)
    assert [(each.name, each.token) for each in found] == [
        ("depot", "word-of-depot"),
        ("shop", "word-of-shop"),
    ]
    assert "word-of" not in repr(found)
    assert "word-of" not in text_of(entries(load_with_origins(file)))


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        ({"name": ""}, "a name has 1 to 64"),
        ({"control": "depot:8481"}, "is not a URL"),
        ({"control": "https://user:word@depot:8481"}, "control has no user"),
        ({"token": "a", "token_file": Path("b")}, "not from both"),
        ({"certificate": Path("a")}, "belong together"),
    ],
)
def test_a_wrong_peer_is_refused_with_its_name(chosen: dict[str, object], why: str) -> None:
    usual: dict[str, object] = {"name": "depot", "control": "https://depot:8481"}
    with pytest.raises(UsageError, match=why):
        Settings(peers=(PeerEntry(**usual | chosen),))  # type: ignore[arg-type]


def test_two_peers_have_two_names_and_there_are_few() -> None:
    one = PeerEntry(name="depot", control="https://depot:8481")
    with pytest.raises(UsageError, match="is given twice"):
        Settings(peers=(one, one))
    with pytest.raises(UsageError, match="at most 32"):
        Settings(peers=(one,) * 33)


@pytest.mark.parametrize(
    ("content", "why"), [(None, "cannot be read"), (b"\xff", "not text"), (b"a b", "no printable word")]
)
def test_a_file_without_a_token_is_refused(tmp_path: Path, content: bytes | None, why: str) -> None:
    file = tmp_path / "token"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(UsageError, match=why):
        peers_of([PeerEntry(name="depot", control="https://depot:8481", token_file=file)])


def test_a_reload_replaces_the_peers(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reloader = harness.server.reloader
        depot = PeerEntry(name="depot", control="https://depot:8481")
        reloader.read = lambda: replace(reloader.settings, peers=(depot,))
        assert (await reloader.reload()).applied == ["peers"]
        assert [each.name for each in reloader.peers.all] == ["depot"]

    play(tmp_path, scene)
