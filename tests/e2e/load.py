"""Thirteen clients on four queues: everything that changes a queue, one request in flight each.

plain     three producers, two readers that take at once
held      two producers, two readers that hold and acknowledge, one of them with its next receive
source    a producer; two movers carry to the target in transactions, some of them in two phases
target    a reader that takes at once
"""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any, Final

from reliquary.base.time import seconds
from reliquary.net.http import ConnectFailed, ConnectionLost, HttpClient, RequestFailed
from tests.e2e.ledger import Change, Ledger, Order, Shown, Taking

API: Final = "/api/v1"
QUEUES: Final = ("plain", "held", "source", "target")
PATIENCE: Final = seconds(60)
"""No request takes so long while others go on."""
LONG: Final = 3600
"""Seconds; no hold and no transaction ends by itself."""


class Api:
    """Requests with JSON to one plane."""

    def __init__(self, client: HttpClient) -> None:
        self._client = client
        self.answered: Callable[[], None] = _ignore

    async def call(self, method: str, path: str, body: object = None) -> Any:
        """Send one request that must not be refused."""
        data = b"" if body is None else json.dumps(body).encode()
        answer = await self._client.request(method, API + path, data, timeout=PATIENCE)
        self.answered()
        assert answer.status < 300, f"{method} {path} {body}: {answer.status} {answer.body.decode()}"
        return json.loads(answer.body) if answer.body else None

    async def browse(self, queue: str) -> list[Shown]:
        """Return all messages of a queue, page by page."""
        found: list[Shown] = []
        after = ""
        while page := shown(await self.call("GET", f"/queues/{queue}/messages?limit=500{after}")):
            found += page
            after = f"&after={page[-1].lookup_id}"
        return found


def shown(answer: Any) -> list[Shown]:
    """Return the messages of an answer."""
    return [
        Shown(b64decode(each["body"]).decode(), each["label"], int(each["lookup_id"]))
        for each in answer["messages"]
    ]


class Load:
    """The clients; they outlive the server, their requests do not."""

    def __init__(self, ledger: Ledger, random: Random, depth: int) -> None:
        """Prepare the load; in a queue that is deeper than `depth`, producers send one at a time."""
        self._depth = depth
        self._ledger = ledger
        self._random = random
        self._numbers: dict[str, int] = {}
        self._orders = {name: Order() for name in ("first", "second", "last")}
        self._life = 0

    async def fill(self, api: Api, queue: str, count: int) -> None:
        """Fill a queue, so that it is deep from the start."""
        lane = f"{queue} early"
        for _ in range(count // 100):
            await self._send_to(api, queue, lane, tuple(self._next(lane) for _ in range(100)))

    async def run(self, api: Api, *, is_over: Callable[[], bool]) -> list[str]:
        """Run the load against one process of the server until that ends; count lost connections."""
        self._life += 1
        early: list[str] = []
        clients = (
            self._produce(api, "plain", "one", 1),
            self._produce(api, "plain", "other", 1),
            self._produce(api, "plain", "many", 12),
            self._take(api, "plain", "first"),
            self._take(api, "plain", "second"),
            self._produce(api, "held", "one", 1),
            self._produce(api, "held", "many", 12),
            self._hold(api, "held"),
            self._hold_and_say_so(api, "held"),
            self._produce(api, "source", "many", 12),
            self._move(api, "left"),
            self._move(api, "right"),
            self._take(api, "target", "last"),
        )
        async with asyncio.TaskGroup() as group:
            for client in clients:
                group.create_task(_until_the_end(client, is_over, early))
        return early

    # -- clients

    async def _produce(self, api: Api, queue: str, name: str, most: int) -> None:
        lane = f"{queue} {name}"
        while True:
            deep = len(self._ledger.stocks[queue].there) > self._depth
            count = 1 if deep else self._random.randint(1, most)
            bodies = tuple(self._next(lane) for _ in range(count))
            await self._send_to(api, queue, lane, bodies)

    async def _send_to(self, api: Api, queue: str, lane: str, bodies: tuple[str, ...]) -> None:
        messages = [_message(body, lane) for body in bodies]
        change = Change(into={queue: bodies})
        given = messages if len(messages) > 1 else messages[0]
        answer = await self._change(api, change, f"/queues/{queue}/messages", given)
        self._ledger.confirm(change, [int(each["lookup_id"]) for each in answer["messages"]])

    async def _take(self, api: Api, queue: str, name: str) -> None:
        while True:
            taking = self._ledger.ask(Taking(queue, self._random.randint(1, 8)))
            asked = {"count": taking.count, "timeout": None}
            answer = await self._send(taking, api, f"/queues/{queue}/receive", asked)
            messages = shown(answer)
            assert messages, "it waits for ever and answered nothing"
            self._ledger.receive(taking, messages)
            self._orders[name].see(messages)

    async def _hold(self, api: Api, queue: str) -> None:
        """Receive with a lock, and acknowledge with the next receive."""
        order = Order()
        held: tuple[str, ...] = ()
        receipt: str | None = None
        while True:
            asked: dict[str, object] = {"count": self._random.randint(1, 12), "timeout": None, "hold": LONG}
            change = Change(out={queue: held})
            if receipt:
                asked["acknowledge"] = receipt
            answer = await self._change(api, change, f"/queues/{queue}/receive", asked)
            self._ledger.confirm(change)
            messages = shown(answer)
            self._ledger.hold(queue, messages)
            order.see(messages)
            held, receipt = tuple(message.body for message in messages), answer["receipt"]

    async def _hold_and_say_so(self, api: Api, queue: str) -> None:
        """Acknowledge what was held in two parts, each in a request of its own."""
        order = Order()
        while True:
            asked = {"count": self._random.randint(1, 12), "timeout": None, "hold": LONG}
            answer = await self._send(None, api, f"/queues/{queue}/receive", asked)
            messages = shown(answer)
            self._ledger.hold(queue, messages)
            order.see(messages)
            cut = self._random.randint(0, len(messages) - 1)
            if cut:
                lookup_ids = [str(message.lookup_id) for message in messages[:cut]]
                await self._acknowledge(api, queue, answer["receipt"], messages[:cut], lookup_ids)
            await self._acknowledge(api, queue, answer["receipt"], messages[cut:], None)

    async def _acknowledge(
        self, api: Api, queue: str, receipt: str, messages: list[Shown], lookup_ids: list[str] | None
    ) -> None:
        change = Change(out={queue: tuple(message.body for message in messages)})
        await self._change(api, change, f"/receipts/{receipt}", {"lookup_ids": lookup_ids})
        self._ledger.confirm(change)

    async def _move(self, api: Api, name: str) -> None:
        order = Order()
        while True:
            begun = await self._send(None, api, "/transactions", {"timeout": LONG})
            transaction = begun["transaction"]
            asked = {"count": self._random.randint(1, 12), "timeout": None, "transaction": transaction}
            messages = shown(await self._send(None, api, "/queues/source/receive", asked))
            self._ledger.hold("source", messages)
            order.see(messages)
            copies = [_message(each.body, f"{name} {self._life} {each.lane}") for each in messages]
            await self._send(None, api, f"/queues/target/messages?transaction={transaction}", copies)
            await self._end(api, transaction, tuple(message.body for message in messages))

    async def _end(self, api: Api, transaction: str, bodies: tuple[str, ...]) -> None:
        two_phase = self._random.random() < 0.5
        change = Change({"source": bodies}, {"target": bodies}, transaction, two_phase)
        if two_phase:
            await self._change(api, change, f"/transactions/{transaction}/prepare", {})
            change.prepared = True
        change.commits = True
        await self._change(api, change, f"/transactions/{transaction}/commit", {})
        self._ledger.confirm(change)

    # -- requests

    async def _change(self, api: Api, change: Change, path: str, body: object) -> Any:
        return await self._send(self._ledger.begin(change), api, path, body)

    async def _send(self, entry: Change | Taking | None, api: Api, path: str, body: object) -> Any:
        try:
            return await api.call("POST", path, body)
        except RequestFailed as why:
            if not why.sent:
                self._did_not_leave(entry)
            raise

    def _did_not_leave(self, entry: Change | Taking | None) -> None:
        if isinstance(entry, Change) and entry.prepared:
            entry.commits = False  # it waits for a decision
        else:
            self._ledger.forget(entry)

    def _next(self, lane: str) -> str:
        self._numbers[lane] = self._numbers.get(lane, 0) + 1
        return f"{lane}/{self._numbers[lane]}"


async def _until_the_end(
    client: Coroutine[Any, Any, None], is_over: Callable[[], bool], early: list[str]
) -> None:
    try:
        await client
    except (ConnectFailed, ConnectionLost) as why:
        if not is_over():
            early.append(str(why))


def _message(body: str, lane: str) -> dict[str, str]:
    return {"text": body, "label": lane}


def _ignore() -> None:
    pass
