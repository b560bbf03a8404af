"""Tests receive, peek, browse, look up, acknowledge, cancel, over a real socket."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime

import pytest

from reliquary.queueing.model.events import CallerGone
from tests.net.api.harness import Harness, bodies, on, play
from tests.net.http.harness import until

RECEIVE = on("orders", "receive")


def test_a_receive_takes_the_first_message_and_only_that() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a", "b")
        answer = await harness.call("POST", RECEIVE)
        assert answer[0] == 200
        assert bodies(answer[1]) == ["a"]
        assert answer[1]["receipt"] is None
        assert await harness.texts("orders") == ["b"]

    play(scene)


def test_a_receive_takes_as_many_as_it_asks_for() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a", "b", "c")
        assert bodies(await harness.ok("POST", RECEIVE, {"count": 2})) == ["a", "b"]
        assert bodies(await harness.ok("POST", RECEIVE, {"count": 10_000})) == ["c"]

    play(scene)


def test_an_empty_queue_gives_an_empty_list_at_once() -> None:
    async def scene(harness: Harness) -> None:
        assert await harness.call("POST", RECEIVE) == (200, {"messages": [], "receipt": None})
        assert await harness.call("POST", on("orders", "peek")) == (200, {"messages": [], "receipt": None})

    play(scene)


def test_moments_are_utc_and_true() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        [shown] = (await harness.ok("POST", RECEIVE))["messages"]
        sent, arrived = (datetime.fromisoformat(shown[name]) for name in ("sent", "arrived"))
        assert shown["sent"].endswith("Z")
        assert 0 <= (arrived - sent).total_seconds() < 1
        assert shown["source"] == str(harness.state.identity().identifier)

    play(scene)


def test_a_wait_ends_with_the_message_that_comes_later() -> None:
    async def scene(harness: Harness) -> None:
        for timeout in (60, None):
            waiting = asyncio.ensure_future(harness.ok("POST", RECEIVE, {"timeout": timeout, "count": 2}))
            await harness.wait_for_readers(1)
            await harness.send("orders", "a", "b")
            assert bodies(await waiting) == ["a", "b"]
        assert await harness.texts("orders") == []

    play(scene)


def test_a_wait_without_a_message_ends_with_an_empty_list() -> None:
    async def scene(harness: Harness) -> None:
        answer = await harness.call("POST", RECEIVE, {"timeout": 0.01})
        assert answer == (200, {"messages": [], "receipt": None})
        assert harness.waiting() == 0

    play(scene)


def test_a_client_that_hangs_up_waits_no_longer_and_takes_no_message() -> None:
    async def scene(harness: Harness) -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", harness.port)
        body = json.dumps({"timeout": None}).encode()
        head = f"POST /api/v1{RECEIVE} HTTP/1.1\r\nhost: x\r\ncontent-length: {len(body)}\r\n\r\n"
        writer.write(head.encode() + body)
        await harness.wait_for_readers(1)
        writer.close()
        await harness.wait_for_readers(0)
        await harness.send("orders", "a")
        assert await harness.texts("orders") == ["a"]
        assert await reader.read() == b""

    play(scene)


def test_readers_are_served_in_the_order_they_came() -> None:
    async def scene(harness: Harness) -> None:
        first = asyncio.ensure_future(harness.ok("POST", RECEIVE, {"timeout": 60}))
        await harness.wait_for_readers(1)
        second = asyncio.ensure_future(harness.ok("POST", RECEIVE, {"timeout": 60}))
        await harness.wait_for_readers(2)
        await harness.send("orders", "a", "b")
        assert (bodies(await first), bodies(await second)) == (["a"], ["b"])

    play(scene)


# -- holds and receipts


def test_held_messages_are_locked_until_they_are_acknowledged() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a", "b", "c")
        held = await harness.ok("POST", RECEIVE, {"count": 2, "hold": 60})
        assert bodies(held) == ["a", "b"]
        assert await harness.texts("orders") == ["c"]
        assert await harness.call("POST", f"/receipts/{held['receipt']}", {"delete": True}) == (204, None)
        assert await harness.texts("orders") == ["c"]
        refused = await harness.refused("POST", f"/receipts/{held['receipt']}", {"delete": True})
        assert refused[:2] == (404, "INVALID_HANDLE")

    play(scene)


def test_a_held_message_is_rejected() -> None:
    async def scene(harness: Harness) -> None:
        await harness.ok("POST", on("orders", "messages"), {"text": "a", "deadletter": True})
        held = await harness.ok("POST", RECEIVE, {"hold": 60})
        receipt = f"/receipts/{held['receipt']}"
        refused = await harness.refused("POST", receipt, {"delete": False, "reject": True})
        assert refused[2] == "a message is rejected or given back, not both"
        assert await harness.call("POST", receipt, {"reject": True}) == (204, None)
        (dead,) = (await harness.ok("GET", on("system$;deadletter", "messages")))["messages"]
        assert (dead["class"], dead["origin"]) == ("nack-receive-rejected", "orders")

    play(scene)


def test_held_messages_are_given_back_one_by_one_at_their_old_place() -> None:
    async def scene(harness: Harness) -> None:
        places = await harness.send("orders", "a", "b", "c")
        held = await harness.ok("POST", RECEIVE, {"count": 3, "hold": 60})
        receipt = f"/receipts/{held['receipt']}"
        await harness.ok("POST", receipt, {"delete": False, "lookup_ids": [places[0], places[0]]})
        await harness.ok("POST", receipt, {"lookup_ids": [places[1], places[1]]})
        assert await harness.texts("orders") == ["a"]
        await harness.ok("POST", receipt, {"delete": False})
        assert await harness.texts("orders") == ["a", "c"]

    play(scene)


def test_a_hold_that_runs_out_gives_the_messages_back() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        held = await harness.ok("POST", RECEIVE, {"hold": 0.02})
        again = await harness.ok("POST", RECEIVE, {"hold": 60, "timeout": 60})
        assert bodies(held) == bodies(again) == ["a"]
        refused = await harness.refused("POST", f"/receipts/{held['receipt']}")
        assert refused[:2] == (404, "INVALID_HANDLE")

    play(scene)


def test_one_request_acknowledges_and_receives() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a", "b")
        held = await harness.ok("POST", RECEIVE, {"hold": 60})
        again = await harness.ok("POST", RECEIVE, {"hold": 60, "acknowledge": held["receipt"]})
        assert bodies(again) == ["b"]
        assert again["receipt"] != held["receipt"]
        await harness.ok("POST", f"/receipts/{again['receipt']}", {"delete": False})
        assert await harness.texts("orders") == ["b"]

    play(scene)


def test_an_acknowledgement_with_a_malformed_name_changes_nothing() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        held = await harness.ok("POST", RECEIVE, {"hold": 60})
        refused = await harness.refused("POST", on("a+b", "receive"), {"acknowledge": held["receipt"]})
        assert refused[:2] == (400, "INVALID_PARAMETER")
        await harness.ok("POST", f"/receipts/{held['receipt']}", {"delete": False})
        assert await harness.texts("orders") == ["a"]

    play(scene)


def test_a_receipt_of_an_earlier_run_is_not_mistaken_for_one_of_today() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        held = await harness.ok("POST", RECEIVE, {"hold": 60})
        number = held["receipt"].rpartition("-")[2]
        for foreign in (number, f"{'0' * 16}-{number}", held["receipt"] + "x"):
            assert (await harness.refused("POST", f"/receipts/{foreign}"))[:2] == (404, "INVALID_HANDLE")
            refused = await harness.refused("POST", RECEIVE, {"acknowledge": foreign})
            assert refused[:2] == (404, "INVALID_HANDLE")
        await harness.ok("POST", f"/receipts/{held['receipt']}")

    play(scene)


def test_an_empty_list_does_not_stand_for_all() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        held = await harness.ok("POST", RECEIVE, {"hold": 60})
        refused = await harness.refused("POST", f"/receipts/{held['receipt']}", {"lookup_ids": []})
        assert refused[:2] == (400, "INVALID_PARAMETER")
        refused = await harness.refused("POST", f"/receipts/{held['receipt']}", {"lookup_ids": ["7"]})
        assert refused[:2] == (409, "TRANSACTION_SEQUENCE")
        await harness.ok("POST", f"/receipts/{held['receipt']}", {"delete": False})
        assert await harness.texts("orders") == ["a"]

    play(scene)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param({"count": 0}, "1 to 10000 messages, not 0", id="count"),
        pytest.param({"count": 10_001}, "1 to 10000 messages, not 10001", id="large count"),
        pytest.param({"timeout": -0.5}, "timeout is 0 to 604800 seconds or null, not -0.5", id="timeout"),
        pytest.param(
            {"timeout": 604801}, "timeout is 0 to 604800 seconds or null, not 604801", id="long wait"
        ),
        pytest.param({"hold": -1}, "hold is 0.001 to 43200 seconds, not -1", id="hold"),
        pytest.param({"hold": 1e-9}, "hold is 0.001 to 43200 seconds, not 1e-09", id="a hold of nothing"),
        pytest.param({"hold": 43201}, "hold is 0.001 to 43200 seconds, not 43201", id="long hold"),
        pytest.param({"tag": -1}, "tag is 0 to 4294967295, not -1", id="tag"),
        pytest.param({"transaction": "x"}, "a transaction's id is a GUID, not 'x'", id="transaction"),
        pytest.param({"wait": 1}, "wait", id="unknown field"),
        pytest.param({"count": "1"}, "$.count", id="a number in quotes"),
        pytest.param([], "", id="a list"),
    ],
)
def test_a_receive_outside_its_ranges_is_refused_and_takes_nothing(given: object, said: str) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        status, code, why = await harness.refused("POST", RECEIVE, given)
        assert (status, code) == (400, "INVALID_PARAMETER")
        assert said in why
        assert await harness.texts("orders") == ["a"]

    play(scene)


def test_a_number_beyond_every_float_is_refused() -> None:
    async def scene(harness: Harness) -> None:
        for number in (b"1e999", b"NaN", b"Infinity"):
            status, answer = await harness.raw("POST", RECEIVE, b'{"timeout": ' + number + b"}")
            assert (status, answer["code"]) == (400, "INVALID_PARAMETER")

    play(scene)


# -- looking


def test_a_peek_leaves_the_message_and_can_wait_for_one() -> None:
    async def scene(harness: Harness) -> None:
        waiting = asyncio.ensure_future(harness.ok("POST", on("orders", "peek"), {"timeout": 60}))
        await harness.wait_for_readers(1)
        await harness.send("orders", "a")
        assert bodies(await waiting) == ["a"]
        assert bodies(await harness.ok("POST", on("orders", "peek"))) == ["a"]

    play(scene)


def test_browsing_goes_on_behind_a_place() -> None:
    async def scene(harness: Harness) -> None:
        places = await harness.send("orders", "a", "b", "c")
        path = on("orders", "messages")
        assert bodies(await harness.ok("GET", f"{path}?limit=2")) == ["a", "b"]
        assert bodies(await harness.ok("GET", f"{path}?after={places[0]}&limit=1")) == ["b"]
        assert bodies(await harness.ok("GET", f"{path}?after={places[2]}")) == []

    play(scene)


@pytest.mark.parametrize(
    ("query", "said"),
    [
        pytest.param("limit=0", "1 to 10000 messages, not 0", id="limit"),
        pytest.param("limit=x", "limit is a number, not 'x'", id="no number"),
        pytest.param("limit=-1", "limit is a number, not '-1'", id="negative"),
        pytest.param("after=x", "a lookup_id is a string with a number", id="after"),
        pytest.param("after=576460752303423488", "to 576460752303423487", id="after all"),
        pytest.param("offset=1", "no parameter 'offset'; there is after, limit", id="unknown"),
        pytest.param("limit=1&limit=2", "given twice", id="twice"),
        pytest.param("after=%ff", "the query cannot be read", id="not UTF-8"),
    ],
)
def test_a_bad_query_is_refused(query: str, said: str) -> None:
    async def scene(harness: Harness) -> None:
        status, code, why = await harness.refused("GET", f"{on('orders', 'messages')}?{query}")
        assert (status, code) == (400, "INVALID_PARAMETER")
        assert said in why

    play(scene)


def test_a_lookup_goes_every_way() -> None:
    async def scene(harness: Harness) -> None:
        places = await harness.send("orders", "a", "b", "c")
        path = on("orders", "lookup")
        for seek, found in (
            ("current", "b"),
            ("next", "c"),
            ("previous", "a"),
            ("first", "a"),
            ("last", "c"),
        ):
            answer = await harness.ok("POST", path, {"lookup_id": places[1], "seek": seek})
            assert bodies(answer) == [found], seek
        assert bodies(await harness.ok("POST", path, {"seek": "first"})) == ["a"]

    play(scene)


def test_a_lookup_can_take_or_hold_the_message() -> None:
    async def scene(harness: Harness) -> None:
        places = await harness.send("orders", "a", "b", "c")
        path = on("orders", "lookup")
        assert bodies(await harness.ok("POST", path, {"lookup_id": places[1], "peek": False})) == ["b"]
        held = await harness.ok("POST", path, {"lookup_id": places[0], "peek": False, "hold": 60})
        assert await harness.texts("orders") == ["c"]
        await harness.ok("POST", f"/receipts/{held['receipt']}", {"delete": False})
        assert await harness.texts("orders") == ["a", "c"]

    play(scene)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param({"lookup_id": "1"}, (404, "MESSAGE_NOT_FOUND"), id="an unknown message"),
        pytest.param({}, (400, "INVALID_PARAMETER"), id="relative to nothing"),
        pytest.param({"lookup_id": "1", "seek": "there"}, (400, "INVALID_PARAMETER"), id="an unknown seek"),
        pytest.param({"lookup_id": "1", "hold": 5}, (400, "INVALID_PARAMETER"), id="a peek that holds"),
        pytest.param(
            {"lookup_id": "1", "transaction": "0c44cb60-0000-4000-8000-000000000007"},
            (400, "INVALID_PARAMETER"),
            id="a peek in a transaction",
        ),
        pytest.param(
            {
                "lookup_id": "1",
                "peek": False,
                "hold": 5,
                "transaction": "0c44cb60-0000-4000-8000-000000000007",
            },
            (400, "INVALID_PARAMETER"),
            id="held and in a transaction",
        ),
    ],
)
def test_an_impossible_lookup_is_refused(given: object, expected: tuple[int, str]) -> None:
    async def scene(harness: Harness) -> None:
        assert (await harness.refused("POST", on("orders", "lookup"), given))[:2] == expected

    play(scene)


def test_a_dead_letter_says_why_it_is_there() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a", expires=0, deadletter=True)
        assert await harness.texts("orders") == []
        [dead] = (await harness.ok("GET", on("system$;deadletter", "messages")))["messages"]
        assert dead["class"] == "nack-receive-timeout"

    play(scene)


def test_a_missing_queue_is_refused() -> None:
    async def scene(harness: Harness) -> None:
        for method, verb in (("POST", "receive"), ("POST", "peek"), ("GET", "messages")):
            assert (await harness.refused(method, on("none", verb)))[:2] == (404, "QUEUE_NOT_FOUND")
        refused = await harness.refused("POST", on("none", "lookup"), {"seek": "first"})
        assert refused[:2] == (404, "QUEUE_NOT_FOUND")

    play(scene)


# -- the end of a wait


def test_a_wait_is_cancelled_by_its_tag() -> None:
    async def scene(harness: Harness) -> None:
        waiting = asyncio.ensure_future(harness.refused("POST", RECEIVE, {"timeout": 60, "tag": 7}))
        await harness.wait_for_readers(1)
        assert (await harness.refused("POST", on("orders", "cancel"), {"tag": 8}))[:2] == (
            404,
            "STATUS_NOT_FOUND",
        )
        assert await harness.call("POST", on("orders", "cancel"), {"tag": 7}) == (204, None)
        assert (await waiting)[:2] == (409, "OPERATION_CANCELLED")
        refused = await harness.refused("POST", on("orders", "cancel"), {"tag": 0})
        assert refused == (400, "INVALID_PARAMETER", "tag is 1 to 4294967295, not 0")

    play(scene)


def test_a_server_that_stops_ends_all_waits_and_takes_nothing_new() -> None:
    async def scene(harness: Harness) -> None:
        waiting = asyncio.ensure_future(harness.refused("POST", RECEIVE, {"timeout": None}))
        await harness.wait_for_readers(1)
        harness.plane.stop()
        refused = await harness.refused("POST", on("orders", "messages"), {})
        assert refused == (503, "STOPPING", "the server is stopping")
        for caller in list(harness.state.open.callers):
            harness.engine.submit(CallerGone(caller))
        assert await waiting == refused

    play(scene)


def test_an_answer_to_many_requests_at_once_keeps_each_to_its_own() -> None:
    async def scene(harness: Harness) -> None:
        names = [f"m{number}" for number in range(50)]
        await asyncio.gather(*(harness.send("orders", name, label=name) for name in names))
        taken = await asyncio.gather(*(harness.ok("POST", RECEIVE) for _ in names))
        assert sorted(bodies(each)[0] for each in taken) == sorted(names)
        assert all(bodies(each)[0] == each["messages"][0]["label"] for each in taken)
        await until(lambda: harness.engine.under_way == 0)

    play(scene)


def test_what_comes_back_shows_how_often_it_was_tried() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        for unseen, handed_out in ((False, 1), (True, 2)):
            held = await harness.ok("POST", RECEIVE, {"hold": 30})
            assert held["messages"][0]["handed_out"] == handed_out
            body = {"delete": False, "unseen": unseen}
            assert await harness.call("POST", f"/receipts/{held['receipt']}", body) == (204, None)
        [shown] = (await harness.ok("POST", RECEIVE))["messages"]
        assert (shown["handed_out"], shown["aborted"]) == (1, 1)

    play(scene)


def test_what_is_done_with_was_seen() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        held = await harness.ok("POST", RECEIVE, {"hold": 30})
        refused = await harness.refused("POST", f"/receipts/{held['receipt']}", {"unseen": True})
        assert "with it, delete is false" in str(refused)

    play(scene)
