"""A bench with an administration queue: messages that ask for acknowledgements, and what came of it."""

from __future__ import annotations

from typing import Any

from reliquary.queueing.model.message import Acknowledgement, Message, MessageClass
from tests.queueing.exchange import carriers
from tests.queueing.manager_harness import Bench
from tests.queueing.state_checks import walk

FULL = (Acknowledgement.FULL_RECEIVE,)
ARRIVED, TAKEN = MessageClass.ACK_REACH_QUEUE, MessageClass.ACK_RECEIVE
DEAD = "system$;deadletter"


def bench_with(*queues: str, **settings: Any) -> Bench:
    bench = Bench("admin", *queues, carriers=carriers())
    bench.create("orders", **settings)
    return bench


def ask(bench: Bench, *bodies: bytes, wants: tuple[Acknowledgement, ...] = FULL, **attributes: Any) -> Any:
    return bench.send(
        "orders", *bodies, **{"acknowledgements": wants, "administration_queue": "admin", **attributes}
    )


def news(bench: Bench, path: str = "admin") -> list[Message]:
    queue = bench.queue(path)
    return [bench.state.messages.get(position) for position in walk(queue)]


def classes(bench: Bench, path: str = "admin") -> list[int]:
    return [message.message_class for message in news(bench, path)]
