"""Streams of an older era are brought to their end."""

from __future__ import annotations

from uuid import UUID

from reliquary.base.restoration import Restoration
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, MqqbBench, stream_of, waiting


def restored(*, numbered: bool) -> MqqbBench:
    """Return a bench whose store was restored from a backup with two messages of a stream."""
    bench = MqqbBench()
    bench.transact(ELSEWHERE, b"1", b"2")
    if numbered:
        bench.dialled()
    bench.restoration = Restoration(UUID(int=5), alive_until=bench.now)
    bench.advance(2)
    bench.restart()
    return bench


def test_messages_without_a_number_become_dead_letters_because_their_outcome_is_unknown() -> None:
    bench = restored(numbered=False)
    bench.dialled()
    assert bench.bodies("system$;deadxact") == [b"1", b"2"]
    assert waiting(bench) == 0


def test_messages_with_a_number_are_confirmed_by_a_receiver_that_has_more_than_the_backup() -> None:
    bench = restored(numbered=True)
    peer = bench.dialled()
    peer.order_ack(stream_of(peer.messages[0]), 9)
    assert waiting(bench) == 0
    assert bench.bodies("system$;deadxact") == []


def test_a_closed_stream_that_is_never_confirmed_is_given_up_after_three_waits() -> None:
    bench = restored(numbered=True)
    peer = bench.dialled()
    for _ in range(30):
        peer.ack_all()
        bench.advance(10)
        if peer.is_closed:
            break
    assert bench.bodies("system$;deadxact") == [b"1", b"2"]
