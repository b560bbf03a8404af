"""Messages that come by multicast reach all bound queues, and no receipt is sent."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.protocols.srmp.effects import ListenTo
from reliquary.protocols.srmp.events import ApduArrived
from reliquary.queueing.model.events import DeleteQueue
from tests.protocols.srmp.peer import (
    ADMIN,
    ORDERS,
    apdu,
    delivery_receipt,
    stream_message,
    user_message,
)
from tests.protocols.srmp.receiving import Receiving

ADDRESS = "234.1.1.1:8001"
GROUP = f"MSMQ:MULTICAST={ADDRESS}"


def listening(**options: Any) -> Receiving:
    """Return a bench with two queues that listen."""
    bench = Receiving(**options)
    for name in ("one", "two"):
        bench.create(name, multicast_address=ADDRESS)
    return bench


def come(bench: Receiving, post: tuple[str, bytes], address: str = ADDRESS) -> int:
    """Let a message come; return how many answers were given."""
    before = sum(map(len, bench.answers.values()))
    bench.handle(ApduArrived(address, apdu(post, address)))
    return sum(map(len, bench.answers.values())) - before


@pytest.mark.srmp("T-72")
@pytest.mark.spec("SR-005")
def test_every_queue_that_listens_gets_the_message_and_no_report_is_sent() -> None:
    bench = listening()
    asking = {"delivery_to": ADMIN, "commitment": (ADMIN, "positiveOnly")}
    assert come(bench, user_message(GROUP, b"tick", durable=False, **asking)) == 0
    assert bench.bodies("one") == bench.bodies("two") == [b"tick"]
    assert bench.bodies("orders") == []
    bench.receive("one")
    bench.advance(20)
    assert bench.outgoing == []


def test_a_message_that_comes_twice_by_multicast_is_taken_once() -> None:
    bench = listening()
    for _ in range(2):
        come(bench, user_message(GROUP, b"tick", number=9))
    assert bench.bodies("one") == bench.bodies("two") == [b"tick"]


@pytest.mark.srmp("T-73", "F-44")
@pytest.mark.spec("SR-184")
@pytest.mark.parametrize(
    ("post", "word"),
    [
        (user_message("MSMQ:MULTICAST=234.1.1.1:8002"), "to: no queue listens"),
        (user_message(ORDERS), "to:"),
        (stream_message(1, to=GROUP), "stream:"),
        (("text/xml", b"<a/>"), "Envelope:"),
    ],
)
def test_what_has_no_destination_is_dropped_with_a_warning_to_the_administrator(
    post: tuple[str, bytes], word: str
) -> None:
    bench = listening()
    assert come(bench, post) == 0
    assert [bench.bodies(name) for name in ("one", "two", "orders", "torders")] == [[], [], [], []]
    assert bench.outgoing == []
    (warning,) = bench.warnings
    assert warning.why.startswith(word), warning.why


def test_receipts_do_not_come_by_multicast() -> None:
    bench = listening()
    assert come(bench, delivery_receipt(GROUP)) == 0
    assert bench.bodies("one") == []


@pytest.mark.spec("SR-184", "SR-192")
def test_a_post_to_a_multicast_address_is_taken_where_a_queue_listens() -> None:
    bench = listening()
    assert bench.post(*user_message(GROUP, b"tick", delivery_to=ADMIN)).status == 200
    assert bench.bodies("one") == bench.bodies("two") == [b"tick"]
    assert bench.outgoing == []
    assert bench.post(*user_message(GROUP.replace("8001", "8002"))).status == 400
    assert bench.post(*stream_message(1, to=GROUP)).status == 400


def test_we_are_members_of_the_groups_that_queues_listen_to() -> None:
    bench = listening()
    groups = [effect for effect in bench.out if isinstance(effect, ListenTo)]
    assert groups[-1].addresses == {ADDRESS}
    for name in ("one", "two"):
        bench.ask(DeleteQueue(0, name))
    groups = [effect for effect in bench.out if isinstance(effect, ListenTo)]
    assert groups[-1].addresses == frozenset()
    come(bench, user_message(GROUP))
    assert len(bench.warnings) == 1


def test_a_restarted_manager_joins_its_groups_again() -> None:
    bench = listening()
    bench.restart()
    bench.out.clear()
    bench.restart()
    assert [effect.addresses for effect in bench.out if isinstance(effect, ListenTo)] == [{ADDRESS}]
    come(bench, user_message(GROUP, b"tick"))
    assert bench.bodies("one") == [b"tick"]
