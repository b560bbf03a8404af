"""The tables of both roles have names of their own."""

from __future__ import annotations

from reliquary.protocols.wsrm.tables import TABLES


def test_every_table_has_its_own_name() -> None:
    assert len(set(TABLES)) == len(TABLES)
    assert all(name.startswith("wsrm_") for name in TABLES)
