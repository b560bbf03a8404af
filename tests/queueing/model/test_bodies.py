"""Tests large bodies: pieces are stored, owned by a message and deleted with it; no row is left."""

from __future__ import annotations

import tracemalloc

import pytest

from reliquary.base.faults import StoreDamage
from reliquary.queueing.model.bodies import Bodies
from reliquary.queueing.model.message import StoredBody
from reliquary.queueing.model.tables import PAST_THE_END, PIECES, SPOOLS, TABLES, piece_key, spool_key
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows


@pytest.fixture
def rows() -> StagedRows:
    return StagedRows(MemoryDisk(TABLES))


def filled(rows: StagedRows, *pieces: bytes, spool: int = 7) -> Bodies:
    bodies = Bodies(rows)
    for data in pieces:
        bodies.add(spool, data)
    return bodies


def keys(rows: StagedRows) -> tuple[list[bytes], list[bytes]]:
    """Return the keys of the notes and those of the pieces."""
    return (
        [key for key, _ in rows.range(SPOOLS, b"", PAST_THE_END, limit=100)],
        [key for key, _ in rows.range(PIECES, b"", PAST_THE_END, limit=100)],
    )


def test_pieces_are_rows_of_their_own_and_make_up_the_body(rows: StagedRows) -> None:
    bodies = filled(rows, b"one ", b"two ", b"three")
    body = bodies.loose[7]
    assert body == StoredBody(7, 13, 3)
    assert bodies.loose_bytes == 13
    assert keys(rows) == ([spool_key(7)], [piece_key(7, 0), piece_key(7, 1), piece_key(7, 2)])
    assert bodies.piece(7, 1) == b"two "
    assert bodies.piece(7, 3) is None
    assert bodies.whole(body) == b"one two three"


def test_a_body_of_a_message_is_loose_no_longer_and_would_stay_after_a_crash(rows: StagedRows) -> None:
    bodies = filled(rows, b"one", b"two")
    bodies.own(7, express=False)
    assert (bodies.loose, bodies.loose_bytes) == ({}, 0)
    assert keys(rows) == ([], [piece_key(7, 0), piece_key(7, 1)])
    bodies.remove(7, express=False)
    assert keys(rows) == ([], [])


def test_the_body_of_an_express_message_is_noted_for_the_next_start(rows: StagedRows) -> None:
    bodies = filled(rows, b"one")
    bodies.own(7, express=True)
    assert bodies.loose == {}
    assert keys(rows) == ([spool_key(7)], [piece_key(7, 0)])
    bodies.remove(7, express=True)
    assert keys(rows) == ([], [])


def test_a_loose_body_that_is_dropped_leaves_its_neighbours_alone(rows: StagedRows) -> None:
    bodies = Bodies(rows)
    for spool in (6, 7, 8):
        bodies.add(spool, b"%d" % spool)
    bodies.drop(7)
    assert list(bodies.loose) == [6, 8]
    assert bodies.loose_bytes == 2
    assert keys(rows) == ([spool_key(6), spool_key(8)], [piece_key(6, 0), piece_key(8, 0)])


def test_a_new_process_knows_which_bodies_were_loose(rows: StagedRows) -> None:
    bodies = Bodies(rows)
    for spool in (6, 7, 8):
        bodies.add(spool, b"%d" % spool)
    bodies.own(7, express=False)
    again = Bodies(rows)
    again.recover()
    assert list(again.loose) == [6, 8]
    for spool in list(again.loose):
        again.drop(spool)
    assert keys(rows) == ([], [piece_key(7, 0)])
    assert again.loose_bytes == 0


def test_a_body_with_a_piece_that_is_gone_is_damage(rows: StagedRows) -> None:
    body = filled(rows, b"one", b"two").loose[7]
    rows.delete(PIECES, piece_key(7, 1))
    with pytest.raises(StoreDamage, match="piece 1 of the large body 7 has no row"):
        Bodies(rows).whole(body)


@pytest.mark.parametrize("said", [5, 7])
def test_a_body_that_is_not_as_long_as_its_message_says_is_damage(rows: StagedRows, said: int) -> None:
    bodies = filled(rows, b"one", b"two")
    with pytest.raises(StoreDamage, match=f"has 6 bytes, its message says {said}"):
        bodies.whole(StoredBody(7, said, 2))


def test_a_body_is_put_together_without_a_second_copy() -> None:
    disk = MemoryDisk(TABLES)
    rows = StagedRows(disk)
    piece = 256 * 1024
    bodies = filled(rows, *(bytes([number]) * piece for number in range(40)))
    disk.apply(rows.take())
    tracemalloc.start()
    whole = bodies.whole(bodies.loose[7])
    kept, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert whole == b"".join(bytes([number]) * piece for number in range(40))
    assert kept < len(whole) + piece
    assert peak < len(whole) + 4 * piece
