"""Tests POST messages and move, over a real socket."""

from __future__ import annotations

from base64 import b64encode

import msgspec
import pytest

from reliquary.net.api.send import SendOut
from tests.net.api.harness import Harness, bodies, on, play


def test_one_message_is_sent_and_its_place_is_reported() -> None:
    async def scene(harness: Harness) -> None:
        answer = await harness.call(
            "POST", on("orders", "messages"), {"body": "aGVsbG8=", "label": "greeting"}
        )
        manager = str(harness.state.identity().identifier)
        assert answer[0] == 201
        [sent] = answer[1]["messages"]
        assert sent["id"].startswith(manager + "\\")
        [shown] = (await harness.ok("GET", on("orders", "messages")))["messages"]
        assert (shown["id"], shown["lookup_id"]) == (sent["id"], sent["lookup_id"])
        assert (shown["body"], shown["label"]) == ("aGVsbG8=", "greeting")

    play(scene)


def test_the_answer_is_written_as_its_record_would_be() -> None:
    async def scene(harness: Harness) -> None:
        path = "/api/v1" + on("orders", "messages")
        for body in (b"{}", b"[{},{}]"):
            answer = await harness.client.request("POST", path, body)
            assert msgspec.json.encode(msgspec.json.decode(answer.body, type=SendOut)) == answer.body
            packed = await harness.client.request("POST", path, body, ((b"accept", b"application/msgpack"),))
            assert packed.header(b"content-type") == b"application/msgpack"
            sent = msgspec.msgpack.decode(packed.body, type=SendOut).messages
            assert len(sent) == body.count(b"{")
            shown = (await harness.ok("GET", on("orders", "messages")))["messages"]
            assert [(each.id, each.lookup_id) for each in sent] == [
                (each["id"], each["lookup_id"]) for each in shown[-len(sent) :]
            ]

    play(scene)


def test_a_send_without_a_body_is_refused() -> None:
    async def scene(harness: Harness) -> None:
        assert (await harness.refused("POST", on("orders", "messages")))[:2] == (400, "INVALID_PARAMETER")
        assert await harness.texts("orders") == []

    play(scene)


def test_many_messages_are_reported_in_the_order_given_whatever_their_priority() -> None:
    async def scene(harness: Harness) -> None:
        given = [{"text": "low", "priority": 0}, {"text": "high", "priority": 7}]
        sent = (await harness.ok("POST", on("orders", "messages"), given))["messages"]
        shown = (await harness.ok("GET", on("orders", "messages")))["messages"]
        assert bodies({"messages": shown}) == ["high", "low"]
        assert [each["id"] for each in sent] == [shown[1]["id"], shown[0]["id"]]

    play(scene)


def test_every_field_comes_back_as_it_was_sent() -> None:
    given = {
        "body": b64encode(bytes(range(256))).decode(),
        "label": "häll\u0000o ⚙",
        "priority": 7,
        "expires": 60,
        "reach": 30,
        "durable": False,
        "journal": True,
        "deadletter": True,
        "correlation": "0c44cb60-0000-4000-8000-000000000007\\4294967295",
        "tag": 4294967295,
        "body_type": 8,
        "extension": "AAE=",
        "response_queue": "answers",
        "administration_queue": "OTHER\\private$\\admin",
        "httpr": {"content-type": "text/xml", "app-x": "1"},
    }

    async def scene(harness: Harness) -> None:
        await harness.ok("POST", on("orders", "messages"), given)
        [shown] = (await harness.ok("GET", on("orders", "messages")))["messages"]
        for name in ("id", "lookup_id", "sent", "arrived", "source"):
            assert shown.pop(name)
        assert shown == given

    play(scene)


def test_fields_with_their_default_are_left_out() -> None:
    async def scene(harness: Harness) -> None:
        await harness.ok("POST", on("orders", "messages"), {})
        [shown] = (await harness.ok("GET", on("orders", "messages")))["messages"]
        names = {"id", "lookup_id", "body", "priority", "label", "sent", "arrived", "source"}
        assert set(shown) == names
        assert (shown["body"], shown["priority"], shown["label"]) == ("", 3, "")

    play(scene)


def test_a_message_is_durable_unless_it_says_otherwise() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a")
        await harness.send("orders", "b", durable=False)
        queue = harness.state.find(harness.state.parse("orders"))
        assert queue is not None
        express = [position.express for position in map(queue.order.get, await _places(harness)) if position]
        assert express == [False, True]

    async def _places(harness: Harness) -> list[int]:
        return [
            int(each["lookup_id"]) for each in (await harness.ok("GET", on("orders", "messages")))["messages"]
        ]

    play(scene)


def test_a_fraction_of_a_second_is_rounded_up_so_that_nothing_ends_early() -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "a", expires=3.25)
        [shown] = (await harness.ok("GET", on("orders", "messages")))["messages"]
        assert shown["expires"] == 4

    play(scene)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        pytest.param({"priority": 8}, "a priority is 0 to 7, not 8", id="priority"),
        pytest.param({"priority": -1}, "a priority is 0 to 7, not -1", id="negative priority"),
        pytest.param({"label": "x" * 250}, "at most 249 characters, this one has 250", id="label"),
        pytest.param({"body": "", "text": ""}, "a body or a text, not both", id="body and text"),
        pytest.param({"body": "*"}, "$.body", id="bad base64"),
        pytest.param({"body": 7}, "$.body", id="a body that is a number"),
        pytest.param({"labell": "x"}, "labell", id="unknown field"),
        pytest.param({"expires": -1}, "expires is 0 to 4294967295 seconds, not -1", id="expires"),
        pytest.param({"expires": 1e300}, "expires is 0 to 4294967295 seconds, not 1e+300", id="late expiry"),
        pytest.param({"reach": 0}, "reach is 1 to 4294967295 seconds, not 0", id="reach"),
        pytest.param({"tag": 2**32}, "0 to 4294967295, not 4294967296", id="tag"),
        pytest.param({"tag": 10**30}, "", id="a tag beyond every number"),
        pytest.param({"body_type": -1}, "0 to 4294967295, not -1", id="body type"),
        pytest.param({"correlation": "x"}, "correlation is the id of a message", id="correlation"),
        pytest.param({"correlation": "\\1"}, "correlation is the id of a message", id="half a correlation"),
        pytest.param({"response_queue": "x" * 1025}, "at most 1024 characters, this one has 1025", id="name"),
        pytest.param([], "1 to 10000 messages, not 0", id="no message"),
        pytest.param([{}, {"priority": 9}], "a priority is 0 to 7, not 9", id="one of two"),
        pytest.param([{}, {"x": 1}], "$[1]", id="which of two"),
        pytest.param("text", "", id="a string"),
    ],
)
def test_a_message_outside_its_ranges_is_refused_and_changes_nothing(given: object, said: str) -> None:
    async def scene(harness: Harness) -> None:
        status, code, why = await harness.refused("POST", on("orders", "messages"), given)
        assert (status, code) == (400, "INVALID_PARAMETER")
        assert said in why
        assert await harness.texts("orders") == []

    play(scene)


def test_what_is_not_json_is_refused_with_the_place() -> None:
    async def scene(harness: Harness) -> None:
        for data in (b"", b"{", b'{"text": "\xff"}', b'{"label": \x01}'):
            status, answer = await harness.raw("POST", on("orders", "messages"), data)
            assert (status, answer["code"]) == (400, "INVALID_PARAMETER")
        _, answer = await harness.raw("POST", on("orders", "messages"), b'{"label": x}')
        assert "byte 10" in answer["error"]

    play(scene)


def test_a_missing_queue_and_one_that_takes_nothing_are_refused() -> None:
    async def scene(harness: Harness) -> None:
        assert (await harness.refused("POST", on("none", "messages"), {}))[:2] == (404, "QUEUE_NOT_FOUND")
        assert (await harness.refused("POST", on("system$;deadletter", "messages"), {}))[:2] == (
            400,
            "UNSUPPORTED_FORMATNAME_OPERATION",
        )
        status, code, why = await harness.refused("POST", on("a+b", "messages"), {})
        assert (status, code) == (400, "INVALID_PARAMETER")
        assert "'+'" in why

    play(scene)


def test_a_quota_that_is_used_up_refuses_the_whole_list() -> None:
    async def scene(harness: Harness) -> None:
        await harness.create("small", quota=1)
        given = [{"text": "x" * 600}, {"text": "y" * 600}]
        status, code, why = await harness.refused("POST", on("small", "messages"), given)
        assert (status, code) == (507, "INSUFFICIENT_RESOURCES")
        assert "1 kilobytes" in why
        assert await harness.texts("small") == []

    play(scene)


def test_names_may_be_written_with_their_slashes() -> None:
    async def scene(harness: Harness) -> None:
        await harness.ok("POST", "/queues/private$/orders/messages", {"text": "a"})
        await harness.ok("POST", "/queues/HERE%5Cprivate%24%5COrders/messages", {"text": "b"})
        assert await harness.texts("orders") == ["a", "b"]

    play(scene)


def test_a_message_moves_to_a_subqueue() -> None:
    async def scene(harness: Harness) -> None:
        await harness.create("orders;retry")
        [place, _] = await harness.send("orders", "a", "b")
        assert await harness.call(
            "POST", on("orders", "move"), {"lookup_id": place, "target": "orders;retry"}
        ) == (
            204,
            None,
        )
        assert await harness.texts("orders") == ["b"]
        assert await harness.texts("orders;retry") == ["a"]

    play(scene)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        pytest.param(
            {"lookup_id": "1", "target": "orders;retry"}, (404, "MESSAGE_NOT_FOUND"), id="no message"
        ),
        pytest.param({"lookup_id": "1", "target": "none"}, (404, "QUEUE_NOT_FOUND"), id="no target"),
        pytest.param({"lookup_id": 1, "target": "orders;retry"}, (400, "INVALID_PARAMETER"), id="a number"),
        pytest.param(
            {"lookup_id": "x", "target": "orders;retry"}, (400, "INVALID_PARAMETER"), id="no number"
        ),
        pytest.param(
            {"lookup_id": "9" * 20, "target": "orders;retry"}, (400, "INVALID_PARAMETER"), id="too large"
        ),
        pytest.param({"target": "orders;retry"}, (400, "INVALID_PARAMETER"), id="nothing to move"),
    ],
)
def test_an_impossible_move_is_refused(given: object, expected: tuple[int, str]) -> None:
    async def scene(harness: Harness) -> None:
        await harness.create("orders;retry")
        await harness.send("orders", "a")
        assert (await harness.refused("POST", on("orders", "move"), given))[:2] == expected
        assert await harness.texts("orders") == ["a"]

    play(scene)
