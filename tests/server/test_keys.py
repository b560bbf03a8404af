"""Tests the manager's own keys: made once, kept for the owner alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.net.chance import SystemChance
from reliquary.server.keys import own_keys
from reliquary.store import restore
from reliquary.store.backup import KEYS
from reliquary.wire.public_keys import PROVIDERS, Purpose, decode_key
from tests.console.harness import Harness, play


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("keys")
    own_keys(made)
    return made


@pytest.mark.spec("DM-088", "DM-089")
@pytest.mark.parametrize("purpose", Purpose)
def test_there_is_a_key_for_each_provider_and_purpose(folder: Path, purpose: Purpose) -> None:
    """The keys are longer than the specification prints (T01)."""
    keys = [decode_key(each) for each in own_keys(folder).public(purpose)]
    assert [key.provider for key in keys] == list(PROVIDERS)
    assert {(key.purpose, key.bits) for key in keys} == {(purpose, 2048)}
    assert len({key.modulus for key in keys}) == 3


def test_keys_are_made_once(folder: Path) -> None:
    before = (folder / KEYS).read_bytes()
    for purpose in Purpose:
        assert own_keys(folder).public(purpose) == own_keys(folder).public(purpose)
    assert (folder / KEYS).read_bytes() == before


def test_only_the_owner_can_read_them(folder: Path, tmp_path: Path) -> None:
    assert (folder / KEYS).stat().st_mode & 0o777 == 0o600
    (tmp_path / KEYS).write_bytes((folder / KEYS).read_bytes())
    (tmp_path / KEYS).chmod(0o640)
    with pytest.raises(UsageError, match="can be read by others; chmod 600"):
        own_keys(tmp_path)


@pytest.mark.parametrize("text", [b"", b"nonsense", b"cut"])
def test_damage_is_reported_and_nothing_is_made_anew(folder: Path, tmp_path: Path, text: bytes) -> None:
    damaged = (folder / KEYS).read_bytes()[:3000] if text == b"cut" else text
    (tmp_path / KEYS).write_bytes(damaged)
    (tmp_path / KEYS).chmod(0o600)
    with pytest.raises(UsageError, match="are damaged"):
        own_keys(tmp_path)
    assert (tmp_path / KEYS).read_bytes() == damaged


def test_a_folder_that_cannot_be_used_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="cannot be used"):
        own_keys(tmp_path / "file")


def test_a_backup_holds_them_and_a_restored_manager_keeps_them(tmp_path: Path) -> None:
    here = {"directory_integrated": True, "domain": "shop.example"}
    seen: list[tuple[object, ...]] = []

    async def first(harness: Harness) -> None:
        await look(harness)
        await harness.ok("POST", "/store/backup", {"path": str(tmp_path / "backup")})

    async def look(harness: Harness) -> None:
        record = harness.server.opened.state.identity()
        seen.append((record.identifier, record.public_encryption_keys, record.public_signing_keys))

    play(tmp_path / "old", first, **here)
    restore(tmp_path / "backup", tmp_path / "new" / "data", SystemChance())
    assert (tmp_path / "backup" / KEYS).stat().st_mode & 0o777 == 0o600
    play(tmp_path / "new", look, **here)
    assert seen[0] == seen[1]
    assert (tmp_path / "new" / "data" / KEYS).read_bytes() == (tmp_path / "old" / "data" / KEYS).read_bytes()
