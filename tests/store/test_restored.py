"""The note that a store was restored."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import pytest

from reliquary.base.faults import StoreDamage
from reliquary.base.restoration import Restoration
from reliquary.store.restored import NAME, forget, note, noted

RESTORATION = Restoration(UUID(int=7), 5)


def test_what_was_noted_is_there_until_it_is_forgotten(tmp_path: Path) -> None:
    assert noted(tmp_path) is None
    note(tmp_path, RESTORATION)
    assert noted(tmp_path) == RESTORATION
    forget(tmp_path)
    assert noted(tmp_path) is None
    forget(tmp_path)


@pytest.mark.parametrize("content", [b"", b"{}", b"\xff", b"[1]"])
def test_a_note_that_cannot_be_read_is_damage(tmp_path: Path, content: bytes) -> None:
    (tmp_path / NAME).write_bytes(content)
    with pytest.raises(StoreDamage, match="RESTORED cannot be read"):
        noted(tmp_path)
