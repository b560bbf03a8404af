"""Tests a stream of an older era: what goes again, what waits, and what is given up."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.restoration import Restoration
from reliquary.queueing.rules.era import NOT_KNOWN
from reliquary.streams.closing import NOT_CONFIRMED, PATIENCE
from tests.protocols.srmp.sending import Sender
from tests.queueing.state_checks import walk

DEAD_STREAM = "system$;deadxact"


def restored(*bodies: bytes, **attributes: Any) -> Sender:
    """Return a manager that was restored while a stream of these messages waited for its receipts."""
    bench = Sender()
    bench.stream(*bodies, **attributes)
    bench.answer_all()
    bench.restoration = Restoration(UUID(int=99))
    bench.restart()
    bench.restoration = None
    return bench


def dead(bench: Sender) -> list[bytes]:
    assert {position.reason for position in walk(bench.queue(DEAD_STREAM))} <= {NOT_KNOWN}
    return bench.bodies(DEAD_STREAM)


@pytest.mark.spec("SR-135")
def test_numbered_messages_go_again_and_new_ones_wait_for_another_stream() -> None:
    bench = restored(b"1", b"2")
    old = bench.stream_id
    bench.stream(b"3")
    assert [(each.identifier, each.current) for each in bench.places] == [(old, 1), (old, 2)]
    bench.answer_all()
    bench.receipt(2, stream=old)
    assert bench.stream_id != old
    assert bench.sent.stream.sender == bench.state.identity().lineage
    assert bench.sent_bodies() == [b"3"]
    assert bench.numbers == [1]
    assert dead(bench) == []
    bench.check()


def test_what_is_answered_and_never_confirmed_is_given_up_after_some_waits() -> None:
    bench = restored(b"1", b"2")
    bench.stream(b"3")
    for _ in range(PATIENCE - 1):
        bench.answer_all()
        bench.advance(30)
        assert dead(bench) == []
    bench.answer_all()
    bench.advance(30)
    assert dead(bench) == [b"1", b"2"]
    assert bench.sent_bodies() == [b"3"]
    assert [each.what for each in bench.warnings if each.what == NOT_CONFIRMED] == [NOT_CONFIRMED]
    bench.check()


def test_while_no_answer_comes_nothing_is_given_up() -> None:
    bench = restored(b"1", b"2")
    for _ in range(3 * PATIENCE):
        for post in bench.posts:
            bench.fail(post)
        bench.forget()
        bench.advance(30)
    assert (dead(bench), bench.waiting()) == ([], 2)


def test_a_stream_that_is_not_closed_is_never_given_up() -> None:
    bench = Sender()
    bench.stream(b"1")
    for _ in range(3 * PATIENCE):
        bench.answer_all()
        bench.advance(30)
    assert (dead(bench), bench.waiting()) == ([], 1)


def test_final_receipts_are_waited_for_until_a_new_message_needs_the_way() -> None:
    bench = restored(b"1", b"2", negative_journaling=True)
    old = bench.stream_id
    bench.answer_all()
    bench.receipt(2, stream=old)
    bench.final(1, stream=old)
    assert (bench.waiting(), dead(bench)) == (1, [])
    bench.stream(b"3")
    assert dead(bench) == [b"2"]
    assert bench.sent_bodies() == [b"3"]
    bench.check()


def test_a_receipt_for_more_than_was_sent_closes_the_stream() -> None:
    bench = Sender()
    bench.stream(b"1", b"2", negative_journaling=True)
    old = bench.stream_id
    bench.answer_all()
    bench.receipt(99, stream=old)
    bench.stream(b"3")
    assert bench.stream_id != old
    assert bench.numbers == [1]
    assert dead(bench) == [b"1", b"2"]


def test_only_the_first_unconfirmed_message_says_so_and_only_after_a_wait() -> None:
    bench = Sender()
    bench.stream(b"1", b"2", b"3", b"4")
    assert not any(each.unconfirmed_to for each in bench.places)
    bench.answer_all()
    bench.receipt(1)
    bench.advance(30)
    assert [(each.current, each.unconfirmed_to) for each in bench.places] == [
        (2, "http://bench.example/MSMQ/PRIVATE$/order_queue$"),
        (3, ""),
        (4, ""),
    ]
