"""Tests pages of messages: body, properties, history; and the forms that send, move, return and delete."""

from __future__ import annotations

import json
from base64 import b64decode
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from reliquary.console.web import messages, queues
from reliquary.queueing.rules import read
from tests.console.harness import Harness, play
from tests.console.web.harness import Reader
from tests.console.web.test_alarms import poisoned

ORDERS = "/console/queue?name=orders"
DEAD_LETTERS = "/console/queue?name=system$%3Bdeadletter"


async def first_message(reader: Reader, queue: str) -> str:
    """Return the path of the page of the first message of a queue."""
    page = await reader.read(queue)
    return next(link for link in page.links if link.startswith("/console/message?"))


def test_a_message_that_was_sent_from_the_page_is_shown_with_all_its_forms(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        page = await reader.submit(
            ORDERS,
            "/console/queue/send",
            name="orders",
            text="<order>\r\n1</order>",
            label="seven",
            priority="5",
        )
        assert "was sent." in page.text
        page = await reader.read(await first_message(reader, ORDERS))
        assert [each["aria-label"] for each in page.all("pre")] == [
            "Body as xml",
            "Body as text",
            "Body as hex",
        ]
        assert "seven" in page.text
        assert "accepted" in page.text
        download = next(link for link in page.links if "/message/body" in link)
        answer = await reader.get(download)
        assert answer.body == b"<order>\n1</order>"
        assert dict(answer.headers)[b"content-disposition"].startswith(b"attachment")

    play(tmp_path, scene)


def test_a_wrong_priority_is_refused(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        reader = Reader(harness)
        for priority in ("x", "8"):
            await reader.refused(
                ORDERS, "/console/queue/send", 400, name="orders", text="a", priority=priority
            )
        assert (await harness.ok("GET", "/queues/orders"))["messages"] == 0

    play(tmp_path, scene)


def test_a_dead_letter_goes_back_to_where_it_came_from(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        body = b'{"text": "late", "deadletter": true}'
        await harness.data.request("POST", "/api/v1/queues/orders/messages", body)
        await harness.ok("POST", "/queues/orders/purge")
        reader = Reader(harness)
        letter = await first_message(reader, DEAD_LETTERS)
        page = await reader.read(letter)
        fields = {
            each["name"] or "": each["value"] or ""
            for each in page.all("input")
            if each.get("type") == "hidden" and each["name"] != "csrf"
        }
        assert fields["target"] == "orders"
        await reader.submit(letter, "/console/message/move", **fields)
        assert (await harness.ok("GET", "/queues/orders"))["messages"] == 1
        assert (await harness.ok("GET", "/queues/system$;deadletter"))["messages"] == 0

    play(tmp_path, scene)


@pytest.mark.parametrize("answer", [read.ANSWER_BYTES, 1], ids=["small", "larger than an answer"])
def test_all_messages_of_a_poison_queue_go_back_at_once(
    answer: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read, "ANSWER_BYTES", answer)

    async def scene(harness: Harness) -> None:
        await poisoned(harness, "a", "b")
        reader = Reader(harness)
        poison = "/console/queue?name=orders%3Bpoison"
        assert "Return all messages to orders" in (await reader.read(poison)).text
        page = await reader.submit(poison, "/console/queue/return", name="orders;poison")
        assert "Returned to their queues: 2." in page.text
        assert (await harness.ok("GET", "/queues/orders"))["messages"] == 2
        why = await reader.refused(ORDERS, "/console/queue/return", 400, name="orders")
        assert "is neither a poison queue" in why

    play(tmp_path, scene)


def test_a_form_that_returns_a_part_of_the_messages_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(messages, "RETURNED_AT_ONCE", 2)
    monkeypatch.setattr(queues, "RETURNED_AT_ONCE", 2)

    async def scene(harness: Harness) -> None:
        await poisoned(harness, "a", "b", "c")
        reader, poison = Reader(harness), "/console/queue?name=orders%3Bpoison"
        assert "Return the first 2 messages to orders" in (await reader.read(poison)).text
        page = await reader.submit(poison, "/console/queue/return", name="orders;poison")
        assert "Returned to their queues: 2. The queue has more: one step returns the first 2" in page.text
        assert "Return all messages to orders" in page.text
        page = await reader.submit(poison, "/console/queue/return", name="orders;poison")
        assert "Returned to their queues: 1." in page.text
        assert "The queue has more" not in page.text
        assert (await harness.ok("GET", "/queues/orders"))["messages"] == 3

    play(tmp_path, scene)


def test_one_message_of_a_poison_queue_goes_back_from_its_row_and_from_its_page(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await poisoned(harness, "a", "b", "c")
        reader = Reader(harness)
        poison = "/console/queue?name=orders%3Bpoison"
        numbers = [
            each["value"] or ""
            for each in (await reader.read(poison)).all("input")
            if each.get("name") == "lookup_id"
        ]
        assert len(numbers) == 3
        one = {"name": "orders;poison", "lookup_id": numbers[1]}
        page = await reader.submit(poison, "/console/queue/return", **one)
        assert "The message was returned to orders." in page.text
        browsed = await harness.data.request("GET", "/api/v1/queues/orders/messages")
        assert [b64decode(each["body"]) for each in json.loads(browsed.body)["messages"]] == [b"b"]
        assert (await harness.ok("GET", "/queues/orders;poison"))["messages"] == 2
        page = await reader.read(await first_message(reader, poison))
        assert "Return it to orders" in page.text
        await reader.refused(poison, "/console/queue/return", 404, **one)
        await reader.refused(poison, "/console/queue/return", 400, **(one | {"lookup_id": "x"}))
        assert (await harness.ok("GET", "/queues/orders;poison"))["messages"] == 2

    play(tmp_path, scene)


def test_one_message_without_a_known_queue_is_not_returned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def scene(harness: Harness) -> None:
        await poisoned(harness, "a")
        poison = "/console/queue?name=orders%3Bpoison"
        row = (await Reader(harness).read(poison)).all("input")
        number = next(each["value"] or "" for each in row if each.get("name") == "lookup_id")
        monkeypatch.setattr(messages, "_home", lambda *_: "")
        fields = {"name": "orders;poison", "lookup_id": number}
        why = await Reader(harness).refused(poison, "/console/queue/return", 400, **fields)
        assert "came from no queue of this manager: open it, and move it" in why
        assert (await harness.ok("GET", "/queues/orders;poison"))["messages"] == 1

    play(tmp_path, scene)


def test_a_message_that_is_gone_is_an_error_page(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        path = "/console/message?queue=orders&lookup_id="
        page = await Reader(harness).read(f"{path}1", 404)
        assert "This was not found" in page.text
        assert "It may have left the queue" in page.text
        assert "This cannot be shown" in (await Reader(harness).read(f"{path}x", 400)).text

    play(tmp_path, scene)


def test_all_dead_letters_go_back_but_those_whose_queue_is_gone(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.ok("POST", "/queues", {"name": "lamps"})
        for queue in ("orders", "lamps"):
            body = b'{"text": "late", "deadletter": true}'
            await harness.data.request("POST", f"/api/v1/queues/{queue}/messages", body)
            await harness.ok("POST", f"/queues/{queue}/purge")
        await harness.ok("DELETE", "/queues/lamps")
        reader, name = Reader(harness), "system$;deadletter"
        page = await reader.submit(f"/console/queue?name={name}", "/console/queue/return", name=name)
        assert "Returned to their queues: 1. 1 could not be returned" in page.text
        assert (await harness.ok("GET", "/queues/orders"))["messages"] == 1
        assert (await harness.ok("GET", f"/queues/{name}"))["messages"] == 1

    play(tmp_path, scene)


def test_one_dead_letter_is_deleted_from_its_page(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        letters = b'[{"text": "late", "deadletter": true}, {"text": "too late", "deadletter": true}]'
        await harness.data.request("POST", "/api/v1/queues/orders/messages", letters)
        await harness.ok("POST", "/queues/orders/purge")
        reader = Reader(harness)
        letter = await first_message(reader, DEAD_LETTERS)
        fields = {name: values[0] for name, values in parse_qs(letter.partition("?")[2]).items()}
        page = await reader.submit(letter, "/console/message/delete", **fields)
        assert "The message was deleted." in page.text
        assert (await harness.ok("GET", "/queues/system$;deadletter"))["messages"] == 1
        again = await reader.refused(DEAD_LETTERS, "/console/message/delete", 404, **fields)
        assert "Nothing was changed" in again
        [act, *_] = (await harness.ok("GET", "/acts"))["acts"]
        assert (act["act"], act["outcome"]) == ("delete-message", "refused")

    play(tmp_path, scene)


def test_priority_0_is_shown_and_a_time_without_limit_is_not(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        body = b'[{"text": "a", "priority": 0, "reach": 4294967295, "deadletter": true}]'
        await harness.data.request("POST", "/api/v1/queues/orders/messages", body)
        reader = Reader(harness)
        facts = (await reader.read(await first_message(reader, ORDERS))).facts
        assert (facts["priority"], facts["becomes a dead letter"]) == ("0", "yes")
        assert "time to reach the queue" not in facts

    play(tmp_path, scene)


def test_a_message_without_a_body_says_so(tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        await harness.send("orders", "")
        reader = Reader(harness)
        page = await reader.read(await first_message(reader, ORDERS))
        assert "0 bytes: the body is empty." in page.text
        assert not page.all("pre")

    play(tmp_path, scene)
