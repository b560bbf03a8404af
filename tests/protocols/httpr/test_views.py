"""Tests records of channels for administrators."""

from __future__ import annotations

from reliquary.base.time import as_datetime
from reliquary.protocols.httpr.events import Failure
from reliquary.protocols.httpr.nouns import ChannelInfo
from reliquary.protocols.httpr.views import channel, channels
from tests.protocols.httpr.client_harness import Client
from tests.protocols.httpr.far_server import AGENT, HERE, ORDERS, ClientBench, Far
from tests.protocols.httpr.httpr_harness import HttprBench

FIRST = "0000000000000001"
NONE = "0000000000000000"


def seen(bench: HttprBench) -> ChannelInfo:
    [view] = channels(bench.state, bench.httpr.state)
    assert channel(bench.state, bench.httpr.state, view.number) == view
    return view


def test_a_manager_without_channels_lists_none() -> None:
    bench = HttprBench()
    assert list(channels(bench.state, bench.httpr.state)) == []
    assert channel(bench.state, bench.httpr.state, 1) is None


def test_a_channel_that_we_drive_shows_what_is_in_doubt_and_since_when() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a", b"b")
    assert (seen(bench).state, seen(bench).unanswered) == ("greeting", 1)
    bench.answer(far)
    begun = bench.now
    bench.advance(7)
    view = seen(bench)
    assert (view.number, view.role, view.requester, view.name, view.responder) == (
        1,
        "client",
        HERE,
        "orders",
        AGENT,
    )
    assert (view.state, view.url, view.session) == ("waiting", "http://far.example/httpr/mq", "1")
    assert (view.connected, view.unanswered, view.fetches) == (True, 1, False)
    [batch] = view.in_doubt
    assert (batch.id, batch.messages, batch.since) == (FIRST, 2, as_datetime(begun))
    assert batch.queue == ORDERS
    bench.talk(far)
    view = seen(bench)
    assert (view.state, view.in_doubt, view.unanswered, view.last_source_id) == ("ready", [], 0, FIRST)
    assert bench.httpr.state.begun == {}, "what is not in doubt has no beginning"


def test_a_failed_channel_shows_the_reason_and_the_pause() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    bench.fail(bench.next_request(), Failure.TIMED_OUT)
    view = seen(bench)
    assert (view.state, view.failures, view.connected, view.session) == ("resting", 1, False, "")
    assert view.rest == bench.settings.retry_ladder[0] / 1_000_000
    assert "timed-out" in view.trouble
    bench.advance(60)
    bench.talk(far)
    assert (seen(bench).state, seen(bench).rest, seen(bench).failures) == ("ready", 0, 0)


def test_after_a_restart_the_start_of_the_wait_is_unknown() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.answer(far)
    bench.restart()
    [batch] = seen(bench).in_doubt
    assert (batch.id, batch.messages, batch.since) == (FIRST, 1, None)


def test_a_channel_that_was_not_used_since_the_start_is_closed() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.talk(far)
    bench.addressed = False
    bench.restart()
    view = seen(bench)
    assert (view.state, view.url, view.unanswered) == ("closed", "http://far.example/httpr/mq", 0)


def test_a_channel_that_others_drive_shows_their_session_and_what_they_fetch() -> None:
    client = Client(HttprBench())
    client.begin(max_wait_batch=5000)
    client.push(1, b"a")
    view = seen(client.bench)
    assert (view.role, view.state, view.session) == ("server", "ready", client.session)
    assert (view.connected, view.unanswered, view.url) == (True, 0, "")
    assert (view.last_received_id, view.last_received_outcome, view.last_source_id) == (FIRST, "COMMIT", NONE)
    begun = client.bench.now
    client.pull(0)
    [batch] = seen(client.bench).in_doubt
    assert (batch.id, batch.queue, batch.messages) == (FIRST, "orders", 1)
    assert batch.since == as_datetime(begun)
    client.pull_later(1)
    assert (seen(client.bench).state, seen(client.bench).unanswered) == ("waiting", 1)
    client.bench.restart()
    view = seen(client.bench)
    assert (view.state, view.session, view.connected) == ("closed", "", False)


def test_what_was_refused_is_shown() -> None:
    client = Client(HttprBench(), service="nowhere")
    client.push(1, b"a")
    view = seen(client.bench)
    assert view.trouble.startswith("refused with 518 SINK-NOT-KNOWN: ")
