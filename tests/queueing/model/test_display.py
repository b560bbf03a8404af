"""The names of queues as administrators read and write them."""

from __future__ import annotations

import pytest

from reliquary.queueing.model.display import name_of
from reliquary.queueing.rules import destinations
from tests.queueing.exchange import ELSEWHERE, Exchange
from tests.queueing.manager_harness import Bench


@pytest.mark.parametrize(
    ("created", "shown"),
    [
        (r"private$\orders", "orders"),
        ("orders;retry", "orders;retry"),
        (r".\public", "public"),
        ("system$;deadletter", "system$;deadletter"),
    ],
)
def test_a_queue_has_the_short_name(created: str, shown: str) -> None:
    state = Bench("orders", "orders;retry", r".\public").state
    queue = destinations.find(state, created)
    assert queue is not None
    assert name_of(state, queue) == shown


def test_an_outgoing_queue_has_the_name_of_its_destination() -> None:
    exchange = Exchange()
    exchange.send(ELSEWHERE, b"one")
    assert name_of(exchange.state, exchange.outgoing(ELSEWHERE)) == ELSEWHERE
