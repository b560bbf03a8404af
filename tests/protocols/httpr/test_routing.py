"""Tests names of agents and their queues: what is ours, what is passed on, and what is not known."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.values import Carried
from reliquary.protocols.httpr.routing import (
    into,
    is_fetched_by_agent,
    is_known,
    placed,
    sink_of,
    sources_of,
)
from reliquary.protocols.httpr.settings import HttprSettings, Service
from reliquary.protocols.httpr.state import State
from tests.protocols.httpr.httpr_harness import ADDRESSED, HttprBench

ONWARD = "DIRECT=HTTP://shop.example/msmq/private$/orders"
BATCH = UUID(int=9)
LISTED = HttprSettings(
    services=(Service(name="shop", into="orders"), Service(name="desk", source="answers")),
    forward=True,
)


def state_of(settings: HttprSettings = LISTED) -> State:
    return HttprBench(settings=settings).httpr.state


@pytest.mark.spec("HR-110")
@pytest.mark.parametrize(
    ("target", "queue"),
    [
        ("", "otherwise"),
        ("httpr://bench.example/httpr/mq#orders", "orders"),
        ("httpr://BENCH/httpr/mq#private$/orders", "private$/orders"),
        ("http://localhost/httpr/anything#orders", "orders"),
        ("httpr:/mq#orders", "orders"),
        ("httpr://bench.example/httpr/shop", "orders"),
        ("httpr://bench.example/httpr/invoices", "invoices"),
        ("httpr://c.example/httpr/mq#orders", "DIRECT=HTTPR://c.example/httpr/mq#orders"),
    ],
)
def test_a_message_is_routed_by_its_target(target: str, queue: str) -> None:
    assert "bench" in ADDRESSED.authorities
    assert sink_of(state_of(), target, "otherwise") == queue


@pytest.mark.parametrize(
    ("target", "otherwise"),
    [
        ("", ""),
        ("nonsense", "orders"),
        ("httpr://bench.example/httpr/mq", "orders"),
        ("httpr://bench.example/httpr/desk", "orders"),
        ("httpr://bench.example/httpr/mq#DIRECT=OS:elsewhere\\orders", ""),
        ("httpr://bench.example/httpr/mq#DIRECT%3DHTTP://evil.example/q", ""),
        ("httpr://bench.example/httpr/mq#httpr://evil.example/mq%23q", ""),
    ],
)
def test_a_target_without_a_local_queue_is_unknown(target: str, otherwise: str) -> None:
    with pytest.raises(HttprFault) as refused:
        sink_of(state_of(), target, otherwise)
    assert refused.value.number == 518


def test_nothing_is_passed_on_unless_the_administrator_wants_it() -> None:
    with pytest.raises(HttprFault, match=r"c\.example"):
        sink_of(state_of(HttprSettings()), "httpr://c.example/httpr/mq#orders", "orders")


def test_services_stand_for_queues() -> None:
    closed = HttprSettings(open_services=False, services=LISTED.services)
    assert [is_known(closed, name) for name in ("shop", "mq", "orders")] == [True, True, False]
    assert is_known(LISTED, "orders")
    assert [into(LISTED, name) for name in ("shop", "desk", "mq", "orders")] == ["orders", "", "", "orders"]


@pytest.mark.parametrize("service", ["DIRECT=OS:elsewhere\\orders", "httpr://c.example/httpr/mq#orders"])
def test_no_service_is_a_way_to_send_messages_on_through_us(service: str) -> None:
    assert into(LISTED, service) == ""
    with pytest.raises(HttprFault) as refused:
        sink_of(state_of(), "", into(LISTED, service))
    assert refused.value.number == 518


def test_a_service_may_lead_elsewhere() -> None:
    state = state_of(HttprSettings(services=(Service(name="gate", into=ONWARD),)))
    assert sink_of(state, "httpr://bench.example/httpr/gate", "") == ONWARD
    assert sink_of(state, "", into(state.settings, "gate")) == ONWARD


@pytest.mark.parametrize("service", ["assured", "Assured", "reliable", "datagram", ""])
def test_a_message_that_the_settings_send_elsewhere_leaves_its_header_here(service: str) -> None:
    header = "target-uri:httpr://bench.example/httpr/gate\r\n" + f"class-of-service:{service}\r\n" * bool(
        service
    )
    (name,), (message,) = placed([Carried(header, b"hello")], lambda _: ONWARD, BATCH)
    assert (name, message.carrier_header, message.destination_queue) == (ONWARD, "", "")
    assert message.transaction == (BATCH if service.lower() == "assured" else None)


def test_a_message_for_another_agent_keeps_its_header() -> None:
    header = "target-uri:httpr://c.example/httpr/mq#orders\r\nclass-of-service:assured\r\n"
    state = state_of()
    (name,), (message,) = placed([Carried(header, b"hello")], lambda to: sink_of(state, to, ""), BATCH)
    assert (name, message.carrier_header) == ("DIRECT=HTTPR://c.example/httpr/mq#orders", header)
    assert message.transaction is None


def test_a_pull_takes_from_the_queues_of_its_service() -> None:
    state = state_of()
    assert sources_of(state, "orders", "httpr://c.example/app", 0) == ("orders",)
    assert sources_of(state, "desk", "httpr://c.example/app", 0) == ("answers",)
    assert sources_of(state, "mq", "httpr://c.example/app", 0) == ()
    state.waiting = {
        9: "DIRECT=HTTPR://c.example/app#a",
        5: "DIRECT=HTTPR://d.example/app#a",
        7: "DIRECT=HTTPR://c.example/app#b",
    }
    assert sources_of(state, "mq", "httpr://c.example/app", 0) == (7, 9)
    assert sources_of(state, "shop", "httpr://c.example/app", 7) == (9, 7)
    assert [is_fetched_by_agent(LISTED, name) for name in ("mq", "shop", "desk", "x")] == [
        True,
        True,
        False,
        False,
    ]


def test_each_message_of_a_batch_has_its_queue_and_neighbours_are_looked_up_once() -> None:
    asked: list[str] = []

    def queue_for(target: str) -> str:
        asked.append(target)
        return target.rpartition("#")[2] or "none"

    batch = [("#a", b"1"), ("#a", b"2"), ("", b"3"), ("#b", b"4"), ("#a", b"5")]
    uris = [f"httpr://x/mq{to}" if to else "" for to, _ in batch]
    carried = [
        Carried(f"target-uri:{uri}\r\n" if uri else "", body)
        for uri, (_, body) in zip(uris, batch, strict=True)
    ]
    names, messages = placed(carried, queue_for, BATCH)
    assert names == ("a", "a", "none", "b", "a")
    assert [message.body for message in messages] == [b"1", b"2", b"3", b"4", b"5"]
    assert asked == [uris[0], *uris[2:]]
