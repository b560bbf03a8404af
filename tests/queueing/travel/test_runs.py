"""Runs of messages from other managers: all are taken, or nothing is changed."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.time import SECOND
from reliquary.queueing.model.events import AccessChange, ChangeAccess, TakeOffline
from reliquary.queueing.model.message import Message, MessagePrivacy, ObjectId
from reliquary.queueing.model.queue import QueuePrivacy
from reliquary.queueing.model.security.principals import EVERYONE
from reliquary.queueing.model.security.rights import QueueRight
from reliquary.queueing.model.travel.transfer import RunArrived, RunJudged
from tests.queueing.exchange import ELSEWHERE, Exchange
from tests.queueing.manager_harness import NOON, message
from tests.queueing.state_checks import check

STRANGER = UUID(int=7)
LATE = {"sent_time": NOON // SECOND - 10, "time_to_reach_queue": 5}


def made(number: int, **attributes: object) -> Message:
    return message(
        b"%d" % number, identifier=ObjectId(STRANGER, number), source_machine=STRANGER, **attributes
    )


def is_taken(exchange: Exchange, destination: str, *messages: Message) -> bool:
    exchange.say(RunArrived("manual_carrier", 5, destination, messages, "10.0.0.1"))
    reported = exchange.manual_carrier.received[-1]
    assert isinstance(reported, RunJudged)
    assert (reported.to, reported.ticket) == ("manual_carrier", 5)
    return reported.taken


def test_a_run_is_stored_in_its_order_and_survives_a_restart() -> None:
    exchange = Exchange()
    assert is_taken(exchange, "orders", made(1), made(2), made(3))
    assert exchange.bodies() == [b"1", b"2", b"3"]
    assert exchange.state.travel.taken == {"manual_carrier": 3}
    exchange.restart()
    assert exchange.bodies() == [b"1", b"2", b"3"]
    check(exchange.state)


@pytest.mark.parametrize(
    ("destination", "attributes"),
    [
        pytest.param("nowhere", {}, id="an unknown queue"),
        pytest.param("DIRECT=", {}, id="no name"),
        pytest.param(ELSEWHERE, {}, id="a queue of another manager"),
        pytest.param("strict", {}, id="no transaction"),
        pytest.param("orders", {"transaction": STRANGER}, id="a transaction"),
        pytest.param("narrow", {}, id="no room"),
        pytest.param("signed", {}, id="no signature"),
        pytest.param("orders", LATE, id="too late"),
        pytest.param("guarded", {}, id="no right"),
        pytest.param("orders", {"priority": 9}, id="an attribute out of its range"),
        pytest.param("open", {"privacy": MessagePrivacy.BASE}, id="encrypted"),
    ],
)
def test_one_message_that_is_not_taken_leaves_all_to_single_arrivals(
    destination: str, attributes: dict[str, object]
) -> None:
    exchange = Exchange()
    exchange.create("strict", transactional=True)
    exchange.create("narrow", quota=0)
    exchange.create("signed", authentication=True)
    exchange.create("open", privacy=QueuePrivacy.NONE)
    exchange.create("guarded")
    exchange.ask(ChangeAccess(0, "guarded", AccessChange.DENY, EVERYONE, QueueRight.WRITE_MESSAGE))
    assert not is_taken(exchange, destination, made(1), made(2, **attributes), made(3))
    for queue in ("orders", "strict", "narrow", "signed", "guarded"):
        assert exchange.bodies(queue) == []
    check(exchange.state)


def test_a_manager_that_is_offline_takes_no_run() -> None:
    exchange = Exchange()
    exchange.ask(TakeOffline(0))
    assert not is_taken(exchange, "orders", made(1), made(2))
