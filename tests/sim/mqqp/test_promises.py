"""Tests the checks at the end: orders of readers, and messages that applications must get."""

from __future__ import annotations

from dataclasses import replace
from uuid import UUID

import pytest

from reliquary.sim.history import SenderKnowledge, Sending, Violation
from reliquary.sim.mqqp.promises import check_delivered, check_order
from reliquary.sim.mqqp.readings import Readings
from reliquary.sim.world.register import Register

READER = "b.example/mqqp.remotetaker"


def sent(number: int) -> Sending:
    name = f"a.example/mqqp.sender.{number}"
    return Sending(
        name.encode(),
        name,
        "a.example/mqqp.sender",
        number,
        "inbox",
        3,
        False,
        number,
        SenderKnowledge.CONFIRMED,
    )


def check(*sendings: Sending, readings: Readings | None = None) -> None:
    """Check that one reader got these, in this order."""
    register, readings = Register(()), readings or Readings()
    for each in sendings:
        register.sendings[each.body] = each
        readings.orders[READER].append(each.body)
    check_order(register, readings)


def test_messages_that_come_as_they_were_sent_are_fine() -> None:
    check(sent(1), sent(2), sent(5))


def test_a_message_that_comes_after_a_later_one_is_found() -> None:
    with pytest.raises(
        Violation, match=r"order: b.example/mqqp.remotetaker got a.example/mqqp.sender.1 after"
    ):
        check(sent(2), sent(1))


@pytest.mark.parametrize(
    "late",
    [
        pytest.param(replace(sent(1), priority=7), id="another priority"),
        pytest.param(replace(sent(1), sender="a.example/other"), id="another sender"),
        pytest.param(replace(sent(1), standing=SenderKnowledge.UNKNOWN), id="its sender had no answer"),
        pytest.param(replace(sent(1), queue="DIRECT=http://b.example/msmq/private$/inbox"), id="by SRMP"),
        pytest.param(replace(sent(1), transaction=UUID(int=1)), id="sent in a transaction"),
    ],
)
def test_order_is_promised_for_one_stream_of_confirmed_messages_only(late: Sending) -> None:
    check(sent(2), late)


def test_a_message_that_was_given_back_may_come_late() -> None:
    readings = Readings()
    readings.handed_out[sent(1).body] = 2
    check(sent(2), sent(1), readings=readings)


def test_a_message_that_an_application_of_its_site_had_locked_may_come_late() -> None:
    check(sent(2), sent(1), readings=Readings(out_of_turn={sent(1).body}))


def test_a_message_that_was_acknowledged_without_a_reader_is_a_loss() -> None:
    check_delivered("a.example", [])
    with pytest.raises(Violation, match=r"loss: the client of a.example"):
        check_delivered("a.example", ["one"])
