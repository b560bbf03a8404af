"""Tests a manager in process: what is special about a folder."""

from __future__ import annotations

from pathlib import Path

import pytest

import reliquary
from reliquary import NotOpen, StoreUnusable


def test_messages_outlive_the_manager(tmp_path: Path) -> None:
    with reliquary.connect(tmp_path / "data") as qm:
        qm.create_queue("orders").send("kept")
        qm.queue("orders").send("quick", durable=False)
    with reliquary.connect(tmp_path / "data") as qm:
        assert [message.text for message in qm.queue("orders").browse()] == ["kept"]


def test_no_other_process_can_open_the_folder(tmp_path: Path) -> None:
    with reliquary.connect(tmp_path), pytest.raises(StoreUnusable, match="in use") as raised:
        reliquary.connect(tmp_path)
    assert raised.value.code == "STORE_LOCKED"


def test_a_folder_that_holds_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letter.txt").write_text("not a store")
    with pytest.raises(StoreUnusable) as raised:
        reliquary.connect(tmp_path)
    assert raised.value.code.startswith("STORE_")


def test_what_was_prepared_waits_over_a_restart(tmp_path: Path) -> None:
    with reliquary.connect(tmp_path) as qm:
        orders = qm.create_queue("orders")
        transaction = qm.transaction()
        transaction.__enter__()
        orders.send("x")
        transaction.prepare()
        transaction._inner.part()
    with reliquary.connect(tmp_path) as qm:
        assert [(each.id, each.prepared) for each in qm.transactions()] == [(transaction.id, True)]
        qm.commit(transaction.id)
        assert qm.queue("orders").info().messages == 1


def test_a_handle_of_another_kind_is_not_open(tmp_path: Path) -> None:
    with reliquary.connect(tmp_path) as qm:
        transport = qm._inner.transport
        with pytest.raises(NotOpen):
            qm._portal.call(transport.close_handle("nonsense"))
        with pytest.raises(NotOpen):
            qm._portal.call(transport.close_cursor("99"))
