"""Tests names of streams; `test_views` of each protocol shows their records."""

from __future__ import annotations

from uuid import UUID

from reliquary.streams.records import incoming_name, outgoing_name


def test_the_name_of_a_stream_is_constant_and_unique() -> None:
    assert outgoing_name(7) == "out-7"
    keys = [(UUID(int=number), path) for number in (1, 2) for path in ("a", "b")]
    names = [incoming_name(key) for key in keys]
    assert len(set(names)) == 4
    assert names == [incoming_name(key) for key in keys]
    assert all(name.startswith("in-") and len(name) == 13 for name in names)
