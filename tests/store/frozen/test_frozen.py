"""Tests that the store of each release is opened and has its messages."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

import reliquary
from reliquary.store.format import VERSION
from tests.store.frozen.__main__ import LARGE

STORES = sorted(Path(__file__).parent.glob("format-*.tar.xz"))


def test_the_store_of_the_current_format_is_here() -> None:
    """The format on disk is frozen: a number that goes up brings an upgrade of the older stores."""
    assert f"format-{VERSION}.tar.xz" in [path.name for path in STORES]


def unpack(packed: Path, folder: Path) -> None:
    """Write the files of an archive into a folder; not every supported Python has a safe `extractall`."""
    with tarfile.open(packed) as archive:
        for member in archive:
            content = archive.extractfile(member)
            if content is not None:
                target = folder / member.name
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_bytes(content.read())


@pytest.mark.parametrize("packed", STORES, ids=lambda path: path.name)
def test_a_store_of_a_release_opens_with_all_of_its_messages(packed: Path, tmp_path: Path) -> None:
    unpack(packed, tmp_path)
    with reliquary.connect(tmp_path / "store") as manager:
        assert manager.verify().is_sound
        assert [message.text for message in manager.queue("other").browse()] == ["moved"]
        journal = [message.text for message in manager.queue("orders;journal").browse()]
        assert journal == ["urgent"]
        [prepared] = manager.transactions()
        manager.abort(prepared.id)
        orders = manager.queue("orders")
        assert [message.text for message in orders.browse()] == ["plain", LARGE, "journaled"]
        first = orders.receive()
        assert first is not None
        assert (first.text, first.handed_out) == ("plain", 1)  # the transaction had taken it
        assert [message.text for message in manager.queue("strict").browse()] == ["committed"]
