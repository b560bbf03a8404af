"""The names of SRMP's tables: a folder on disk has them."""

from __future__ import annotations

from reliquary.protocols.srmp.tables import TABLES


def test_the_tables_have_the_names_that_folders_have() -> None:
    assert TABLES == ("srmp_streams", "srmp_numbers", "srmp_incoming", "srmp_history", "srmp_ordinals")
