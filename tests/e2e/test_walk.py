"""Tests five paths through the rooms: each is entered in the expected order, and the calls for a message are
few.

    API        net --> engine --> queueing                             --> store --> net
    SRMP in    net --> engine --> protocols/srmp --> queueing
                                  protocols/srmp <-- (signal back)     --> store --> net
    HTTPR in   as SRMP in, with protocols/httpr and a batch of messages
    HTTPR out  net --> engine --> queueing --> protocols/httpr         --> store --> net: the courier sends
               net --> engine --> protocols/httpr --> queueing         --> store
    Spark      net --> engine --> queueing/feed                        --> net: rows become Arrow

Inside queueing, a send and a receive pass each layer once, from the top to the bottom: no call goes up.

    root --> security (is it allowed?), travel (is the queue here?) --> rules --> changes --> model

A path names the functions at the borders of the rooms; each is called as often as it stands there, and in
this order.  A change of the path of a message changes this file too; `./dev test tests/e2e/test_walk.py -s`
prints the counts.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final
from urllib.parse import quote

import pytest

import reliquary
from bench import httpr_message
from reliquary.base.time import MINUTE
from reliquary.client.feed import FeedClient
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.server.srmp_options import SrmpOptions
from tests.client.served import Served, served
from tests.e2e.call_recorder import MOST, CallRecord, Connection, Recorder, check_calls, recorder_of
from tests.protocols.srmp import peer

CALLS: Final = {
    "API: send": 95,
    "API: receive": 114,
    "API: send 100 at once": 4.93,
    "API: receive 100 at once": 2.14,
    "SRMP in: a message": 130,
    "SRMP in: a message of a stream": 143,
    "HTTPR in: 10 at once": 20.5,
    "HTTPR out: a message": 435,
    "HTTPR out: 100 at once": 22.22,
    "Spark: plan 1,000 rows": 0.16,
    "Spark: read 1,000 rows": 0.29,
}
"""Python calls for each message or row.  These numbers may only go down."""

TURN = ["engine/loop submit", "engine/core turn"]
WRITE = ["queueing/manager settle", "store/rocks apply", "store/rocks sync"]
"""One write and one sync for all that the turn staged."""
API = [
    "net/http/connection data_received",
    "net/api/plane handle",
    *TURN,
    "queueing/manager handle",
    *WRITE,
    "net/http/responder respond",
]
SRMP_IN = [
    "net/http/connection data_received",
    "net/srmp/receiving take",
    *TURN,
    "protocols/srmp/arrivals on_post",
    "protocols/srmp/codec/decode decode",
    "protocols/srmp/receiver/messages take_message",
    "queueing/manager on_signal",
    "queueing/rules/enqueue enqueue",
    "protocols/srmp/receiver/messages on_judged",
    "streams/apply apply",  # the identifier is remembered
    *WRITE,
    "net/http/responder respond",
]
STREAM_IN = [
    *SRMP_IN[: SRMP_IN.index("queueing/manager on_signal")],
    "streams/acceptance judge",
    *SRMP_IN[SRMP_IN.index("queueing/manager on_signal") : SRMP_IN.index("queueing/manager settle")],
    "streams/acceptance advanced",
    "streams/apply apply",  # the stream's new number
    *WRITE,
    "net/http/responder respond",
]
HTTPR_IN = [
    "net/http/connection data_received",
    "net/httpr/receiving arrived",
    *TURN,
    "protocols/httpr/server/agent on_request",
    "queueing/manager on_signal",
    "queueing/travel/arrivals on_batch",
    "queueing/rules/enqueue insert",
    "protocols/httpr/server/agent on_judged",
    "protocols/httpr/apply apply",  # the batch was received
    *WRITE,
    "net/http/responder respond",
]
HTTPR_OUT = [
    *API[: API.index("queueing/manager handle")],
    "queueing/manager handle",
    "queueing/rules/enqueue enqueue",
    "protocols/httpr/client/agent on_waiting",
    "queueing/manager on_signal",
    "queueing/travel/reservations on_reservation_wanted",
    "protocols/httpr/client/agent on_reserved",
    "protocols/httpr/apply apply",  # the batch is in doubt
    "queueing/manager on_signal",
    "queueing/travel/reservations on_reservation_wanted",
    "protocols/httpr/client/agent on_reserved",  # nothing is left for a second batch
    *WRITE,
    "net/http/responder respond",
    "net/httpr/courier send",
    "net/http/client_connection data_received",  # the response
    "net/httpr/courier arrived",
    *TURN,
    "protocols/httpr/client/agent on_response",
    "protocols/httpr/apply apply",  # the batch is not in doubt any more
    "queueing/manager on_signal",
    "queueing/travel/reservations on_reservations_ended",
    "queueing/rules/leave leave",
    "queueing/manager settle",
    "store/rocks apply",
    "engine/syncs _synced",  # no caller waits for this sync: the store's thread does it
]
SPARK_PLAN = [
    "net/http/connection data_received",
    "net/api/plane handle",
    "net/feed/planning plan",
    *TURN,
    "queueing/manager handle",  # how far the feed goes
    "queueing/manager settle",
    *TURN,
    "queueing/manager handle",
    "queueing/feed/reading read",
    "queueing/manager settle",
    "net/http/responder respond",
]
SPARK_READ = [
    "net/http/connection data_received",
    "net/api/plane handle",
    "net/feed/reading read",
    *TURN,
    "queueing/manager handle",
    "queueing/feed/reading read",
    "queueing/manager settle",
    "net/http/responder begin",
    "net/feed/columns_out batch",
    "net/http/responder end",
]
CHANGES = [
    "queueing/rules/enqueue enqueue",
    "queueing/rules/leave leave",
    "store/rocks apply",
    "store/rocks sync",
]
"""Functions that a reader of a feed never causes to run."""

ROOM_CALLS = {
    ("net", "engine"),  # an event is submitted
    ("engine", "queueing"),  # it has its turn
    ("queueing", "store"),  # rows are staged, nothing is written
    ("engine", "store"),  # what was staged is written and synced
    ("engine", "net"),  # the answer, and the time
}
LAYERS = ("root", "security", "travel", "rules", "changes", "model")
"""The layers of queueing that a send and a receive pass, from the top to the bottom."""
SEND_LAYER_CALLS = {
    ("root", "security"),  # may the user send?
    ("security", "rules"),
    ("root", "rules"),  # the rule of the request
    ("rules", "changes"),  # a fact is applied
    ("changes", "model"),
    ("rules", "model"),
    ("root", "model"),
    ("root", "changes"),  # the counters, once a batch
}
RECEIVE_LAYER_CALLS = SEND_LAYER_CALLS | {("root", "travel")}  # queues of others have another reader
SRMP_ROOM_CALLS = ROOM_CALLS | {
    ("engine", "protocols/srmp"),  # the turn, and what the manager answers
    ("protocols/srmp", "streams"),
    ("streams", "store"),  # rows are staged
}
HTTPR_ROOM_CALLS = ROOM_CALLS | {
    ("engine", "protocols/httpr"),
    ("protocols/httpr", "queueing"),
    ("protocols/httpr", "store"),  # rows are staged
    ("net", "protocols/httpr"),  # the codec
}
HTTPR_IN_ROOM_CALLS = ROOM_CALLS | {
    ("engine", "protocols/httpr"),
    ("protocols/httpr", "store"),  # rows are staged
    ("net", "protocols/httpr"),  # the codec
}
SPARK_ROOM_CALLS = ROOM_CALLS | {
    ("net", "queueing"),  # the number of each position
}


@contextmanager
def site(folder: Path) -> Iterator[tuple[Served, reliquary.Manager]]:
    """Run a server with two queues; it and a client of it."""
    receipts_wait = SrmpSettings(coalescing=MINUTE, longest_coalescing=MINUTE)
    with (
        served(folder, tables=(SrmpOptions(protocol=receipts_wait),)) as server,
        reliquary.connect(server.data, control=server.control) as manager,
    ):
        manager.create_queue("orders")
        manager.create_queue("torders", transactional=True)
        yield server, manager


@contextmanager
def recorded(folder: Path) -> Iterator[tuple[Served, Connection, Recorder]]:
    """Run a server; it, the connection for all requests, and a recorder of its calls."""
    with (
        site(folder) as (server, _),
        Connection(server.data) as connection,
        recorder_of(server) as recorder,
    ):
        yield server, connection, recorder


def repeat(
    recorder: Recorder, name: str, request: Callable[[int], object], *, messages: int = 1, syncs: int = 1
) -> CallRecord:
    """Record a request several times; the record with the fewest calls."""
    rounding = 0.005
    return recorder.repeat(request, syncs=syncs, limit=(CALLS[name] + rounding) * messages)


def send(connection: Connection, count: int = 1, queue: str = "orders") -> None:
    message = {"text": "hello"}
    body = json.dumps(message if count == 1 else [message] * count).encode()
    connection.post(f"/api/v1/queues/{quote(queue, safe='')}/messages", body)


def post(connection: Connection, message: peer.Post) -> None:
    """Post a message of SRMP that has not expired."""
    content_type, body = message
    unexpired = body.replace(peer.LATER.encode(), b"20380119T031407")
    connection.post("/msmq/private$/orders", unexpired, content_type)


def url_of(server: Served) -> str:
    """Return the URL under which a server knows itself."""
    return server.data.replace("127.0.0.1", "localhost")


@pytest.mark.parametrize("count", [1, 100])
def test_messages_of_the_api_pass_the_rooms_in_order(tmp_path: Path, count: int) -> None:
    many = "" if count == 1 else f" {count} at once"
    wanted = json.dumps({"count": count}).encode()
    with recorded(tmp_path) as (_, connection, recorder):

        def receive(_: int) -> None:
            connection.post("/api/v1/queues/orders/receive", wanted)

        sent = repeat(recorder, f"API: send{many}", lambda _: send(connection, count), messages=count)
        for _ in range(MOST):  # there is something to receive, even if it has to be tried often
            send(connection, count)
        received = repeat(recorder, f"API: receive{many}", receive, messages=count)
    for name, record in ((f"API: send{many}", sent), (f"API: receive{many}", received)):
        assert record.only(API) == API
        assert record.room_calls == ROOM_CALLS
        check_calls(name, record, CALLS[name], messages=count)
    assert sent.layer_calls == SEND_LAYER_CALLS
    assert received.layer_calls == RECEIVE_LAYER_CALLS


def test_the_calls_between_layers_go_down() -> None:
    for caller, called in RECEIVE_LAYER_CALLS:
        assert LAYERS.index(caller) < LAYERS.index(called)


def test_a_message_of_srmp_passes_the_rooms_in_order(tmp_path: Path) -> None:
    name = "SRMP in: a message"
    with recorded(tmp_path) as (server, connection, recorder):
        to = f"{url_of(server)}/msmq/private$/orders"
        record = repeat(recorder, name, lambda number: post(connection, peer.user_message(to, number=number)))
    assert record.only(STREAM_IN) == SRMP_IN
    assert record.room_calls == SRMP_ROOM_CALLS
    check_calls(name, record, CALLS[name])


def test_a_message_of_a_stream_passes_the_rooms_in_order(tmp_path: Path) -> None:
    name = "SRMP in: a message of a stream"
    with recorded(tmp_path) as (server, connection, recorder):
        to = f"{url_of(server)}/msmq/private$/torders"

        def post_next(number: int) -> None:
            previous = number - 1 if number > 1 else None
            post(connection, peer.stream_message(number, previous=previous, to=to))

        record = repeat(recorder, name, post_next)
    assert record.only(STREAM_IN) == STREAM_IN
    assert record.room_calls == SRMP_ROOM_CALLS
    check_calls(name, record, CALLS[name])


def test_a_batch_received_by_httpr_passes_the_rooms_in_order(tmp_path: Path) -> None:
    name, count = "HTTPR in: 10 at once", 10
    with recorded(tmp_path) as (server, connection, recorder):
        answer = connection.send(httpr_message.begin("orders", "walk", count, 1))
        session = answer.partition(b"sessionid:")[2].partition(b"\r\n")[0].decode()
        target = f"{url_of(server).replace('http:', 'httpr:')}/httpr/orders#orders"
        batch = httpr_message.push("orders", session, target, count)

        def push(number: int) -> None:
            assert b"outcome:COMMIT" in connection.send(batch.with_id(number))

        record = repeat(recorder, name, push, messages=count)
    assert record.only(HTTPR_IN) == HTTPR_IN
    assert record.room_calls == HTTPR_IN_ROOM_CALLS
    check_calls(name, record, CALLS[name], messages=count)


@pytest.mark.parametrize("count", [1, 100])
def test_messages_sent_by_httpr_pass_the_rooms_in_order(tmp_path: Path, count: int) -> None:
    name = "HTTPR out: a message" if count == 1 else f"HTTPR out: {count} at once"
    requests = []
    with (
        site(tmp_path / "there") as (there, manager),
        recorded(tmp_path / "here") as (_, connection, recorder),
    ):
        queue = f"DIRECT={url_of(there).replace('http:', 'httpr:')}/httpr/mq#orders"

        def push(number: int) -> None:
            requests.append(number)
            send(connection, count, queue)

        record = repeat(recorder, name, push, messages=count, syncs=2)
        assert manager.queue("orders").info().messages == len(requests) * count
    assert record.only(HTTPR_OUT) == HTTPR_OUT
    assert record.room_calls == HTTPR_ROOM_CALLS
    check_calls(name, record, CALLS[name], messages=count)


def test_rows_for_spark_pass_the_rooms_in_order(tmp_path: Path) -> None:
    rows, planning, reading = 1000, "Spark: plan 1,000 rows", "Spark: read 1,000 rows"
    with recorded(tmp_path) as (server, connection, recorder), FeedClient(server.data) as client:
        send(connection, rows)
        after = client.open_consumer("orders", "lake", "earliest").cursor
        assert after is not None
        [part] = client.plan("orders", after, None, rows=rows, consumer="lake").parts

        def plan(_: int) -> None:
            wanted = {"after": str(after), "rows": rows, "consumer": "lake"}
            connection.post("/api/v1/queues/orders/plan", json.dumps(wanted).encode())

        def read(_: int) -> None:
            batches = client.read("orders", part.after, part.until, consumer="lake")
            assert sum(batch.num_rows for batch in batches) == rows

        planned = repeat(recorder, planning, plan, messages=rows, syncs=0)
        made = repeat(recorder, reading, read, messages=rows, syncs=0)
    assert planned.only(SPARK_PLAN) == SPARK_PLAN
    assert made.only(SPARK_READ) == SPARK_READ
    assert planned.room_calls == made.room_calls == SPARK_ROOM_CALLS
    assert planned.only(CHANGES) == made.only(CHANGES) == []
    check_calls(planning, planned, CALLS[planning], messages=rows)
    check_calls(reading, made, CALLS[reading], messages=rows)


def calls(count: int) -> CallRecord:
    record = CallRecord()
    record.functions = ["engine/loop submit"] * count
    return record


def test_more_calls_than_the_limit_fail() -> None:
    check_calls("a path", calls(200), 200)
    with pytest.raises(AssertionError, match=r"^a path: 201 Python calls .* limit is 200: find"):
        check_calls("a path", calls(201), 200)


def test_clearly_fewer_calls_than_the_limit_lower_it() -> None:
    check_calls("a path", calls(198), 200)
    with pytest.raises(AssertionError, match=r"limit is 2: write 1\.97"):
        check_calls("a path", calls(197), 2, messages=100)
