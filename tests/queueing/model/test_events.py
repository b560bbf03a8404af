"""Requests and answers are values: their defaults, and the contents of answers."""

from __future__ import annotations

import inspect
from uuid import UUID

import msgspec
import pytest

from reliquary.base.hresult import HResult
from reliquary.base.turn import Event
from reliquary.queueing.model import events
from reliquary.queueing.model.events import (
    FOREVER_WAIT,
    Access,
    Answer,
    LookUpMessage,
    OpenQueue,
    Received,
    ReceiveMessages,
    Request,
    Seek,
    Sent,
    Share,
)
from reliquary.queueing.model.message import ObjectId
from reliquary.queueing.model.security.principals import MANAGER
from tests.queueing.manager_harness import Bench

OWN = {
    "StartManager",
    "StopManager",
    "EmptyQueue",
    "DispatchMessages",
    "DtcReenlistmentTimeout",
    "FlowControl",
    "CallerGone",
    "DropSpool",
    "Event",
    "Request",
}
"""Events without an answer to wait for, or that name the caller last."""


def classes(base: type[msgspec.Struct]) -> list[type[msgspec.Struct]]:
    found: list[type[msgspec.Struct]] = []
    for _, each in inspect.getmembers(events, inspect.isclass):
        if issubclass(each, base):
            found.append(each)
    return found


@pytest.mark.parametrize("event", [each for each in classes(Event) if each.__name__ not in OWN])
def test_a_request_names_its_caller_first(event: type[msgspec.Struct]) -> None:
    assert event.__struct_fields__[0] == "to"


@pytest.mark.parametrize("event", classes(Request))
def test_a_request_says_who_asks_and_by_itself_it_is_the_manager(event: type[msgspec.Struct]) -> None:
    fields = {each.name: each.default for each in msgspec.structs.fields(event)}
    assert fields["by"] is MANAGER


@pytest.mark.parametrize("event", [*classes(Event), *classes(Answer)])
def test_events_and_answers_are_values_that_say_what_they_are(event: type[msgspec.Struct]) -> None:
    assert event.__struct_config__.frozen
    assert event.__doc__


@pytest.mark.spec("DM-070")
def test_the_words_of_the_specification_have_their_values() -> None:
    assert {each.value for each in Access} == {
        "receive", "send", "peek", "move", "receive-admin", "peek-admin",
    }  # fmt: skip
    assert {each.value for each in Share} == {"deny-none", "deny-receive"}
    assert {each.value for each in Seek} == {"first", "previous", "current", "next", "last"}


def test_a_receive_takes_one_message_and_does_not_wait_by_default() -> None:
    request = ReceiveMessages(1, "orders")
    assert (request.count, request.timeout, request.hold) == (1, 0, 0)
    assert (request.transaction, request.acknowledge, request.cursor, request.tag) == (None, 0, 0, 0)


def test_an_open_queue_is_shared_and_stays_open_by_default() -> None:
    request = OpenQueue(1, "orders", Access.SEND)
    assert (request.share, request.lease) == (Share.DENY_NONE, FOREVER_WAIT)


def test_a_lookup_peeks_at_the_message_itself_by_default() -> None:
    request = LookUpMessage(1, "orders", 5)
    assert (request.seek, request.peek, request.transaction, request.hold) == (Seek.CURRENT, True, None, 0)


def test_an_answer_to_a_send_knows_the_identifiers_of_the_messages() -> None:
    lineage = UUID(int=3)
    sent = Sent(HResult.OK, "", (0x0400_0000_0000_0005, 0x0400_0001_0000_0006), lineage)
    assert sent.identifiers() == [ObjectId(lineage, 5), ObjectId(lineage, 6)]
    assert str(sent.identifiers()[0]) == f"{lineage}\\5"


def test_an_answer_without_messages_is_empty() -> None:
    assert Received(HResult.OK).messages == ()
    assert Received(HResult.OK).receipt == 0
    with pytest.raises(AttributeError):
        Answer(HResult.OK).status = HResult.IO_TIMEOUT  # type: ignore[misc]


def test_every_refusal_has_a_sentence() -> None:
    bench = Bench()
    answer = bench.receive("orders")
    assert answer.why == HResult.IO_TIMEOUT.sentence
    assert all(status.sentence for status in HResult)
