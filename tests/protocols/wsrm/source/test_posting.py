"""Requests have tickets and epochs, and describe the sequence itself."""

from __future__ import annotations

import pytest

from reliquary.protocols.wsrm.codec.values import Dialect, Reference, TerminateSequence, Version
from reliquary.protocols.wsrm.effects import HangUp
from reliquary.protocols.wsrm.settings import PeerSettings, WsrmSettings
from tests.protocols.wsrm.source.source_bench import FIRST, URL, SourceBench, closed


def test_requests_of_one_connection_have_one_epoch_and_tickets_of_their_own() -> None:
    bench = SourceBench()
    bench.put("a", "b", "c")
    bench.open()
    bench.acknowledge((1, 1))
    first, second = bench.posts
    assert (first.connection, first.epoch, first.url) == (second.connection, second.epoch, URL)
    assert first.ticket < second.ticket
    assert first.connection == bench.outgoing().number


def test_a_request_waits_for_the_disk() -> None:
    bench = SourceBench()
    bench.put("a")
    bench.open()
    bench.acknowledge()
    bench.advance(2)  # what goes again has no fact of its own
    assert bench.numbers == [1]
    assert bench.turns[-1].waits


def test_a_failure_begins_another_epoch() -> None:
    bench = SourceBench()
    bench.put("a")
    [post] = bench.take()
    bench.fail(post)
    assert bench.hung_up == [HangUp(post.connection, post.epoch)]
    bench.advance(1)
    assert [each.epoch for each in bench.posts] == [post.epoch + 1]


@pytest.mark.parametrize("version", Version)
def test_the_requests_that_end_a_sequence_have_what_wcf_demands(version: Version) -> None:
    """MessageID and ReplyTo in 1.1; LastMsgNumber alike in both requests; 1.0 answers nothing."""
    peer = PeerSettings(address="*", dialect=Dialect(version=version), addressable=True)
    bench = SourceBench(settings=WsrmSettings(peers=(peer,)))
    bench.put("a")
    bench.open()
    bench.acknowledge((1, 1))
    bench.advance(300)
    close = bench.sent()[-1]
    if version is Version.RM11:
        assert close.message_id
        assert close.reply_to == Reference("http://bench.example/wsrm/")
        assert close.body.last == 1  # type: ignore[union-attr]
        bench.answer(bench.posts[-1], closed(bench.posts[-1], bench, (1, 1)))
    else:
        bench.answer(bench.posts[-1])
    terminate = bench.sent()[-1]
    last = 1 if version is Version.RM11 else 0
    assert terminate.body == TerminateSequence(FIRST, last)
    assert (terminate.reply_to is not None) is (version is Version.RM11)
