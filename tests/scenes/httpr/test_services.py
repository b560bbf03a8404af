"""What messages ask of the agents: classes of service, priorities, expiry, and who may send and fetch."""

from __future__ import annotations

import re

import pytest

from reliquary.queueing.model.events import CommitTransaction
from reliquary.queueing.model.message import Delivery
from reliquary.queueing.model.security.principals import Principal
from reliquary.wire.security import SecurityDescriptor, Sid, encode_descriptor
from tests.scenes.httpr.harness import ScriptedClient, Side, settings
from tests.scenes.httpr.network import Network

WHO = ("requester:httpr://myhost/service", "channel:primary")
LAST = "payload-disposition:last"
NO_RIGHTS = encode_descriptor(SecurityDescriptor(dacl=()))
ALICE = Principal(Sid(5, (21, 1, 2, 3, 1001)), name="alice")


def push(client: ScriptedClient, batch: int, *messages: str) -> list[str]:
    """PUSH outside any session; what its answer says after our name."""
    answer = client.says(
        "request:PUSH HTTPR/1.0", *WHO, f"transactionid:{batch:016X}", " ".join(messages), LAST
    )  # fmt: skip
    return answer[1:]


def pull(client: ScriptedClient, completed: int = 0) -> list[str]:
    """Send a PULL that also commits the previous batch; return the answer's lines."""
    reported = ("outcome:COMMIT", f"completed:{completed:016X}")
    return client.says("request:PULL HTTPR/1.0", *WHO, *reported)[1:]


# -- class-of-service, 6.2.4


def between(service: str) -> tuple[Side, Side, Network]:
    """Return a side that has sent a message of this class to another."""
    here, there = Side("here.example"), Side("there.example")
    to = "DIRECT=HTTPR://there.example/httpr/mq#incoming"
    if service == "assured":
        transaction = here.begin()
        there.create("strict", transactional=True)
        here.send(to.replace("incoming", "strict"), b"x", transaction=transaction)
        here.ask(CommitTransaction(0, transaction))
    else:
        here.send(to, b"x", delivery=Delivery.RECOVERABLE if service == "reliable" else Delivery.EXPRESS)
    return here, there, Network(here, there)


@pytest.mark.httpr("T06", "T08")
@pytest.mark.spec("HR-020")
@pytest.mark.parametrize("service", ["assured", "reliable", "datagram"])
def test_each_class_of_service_arrives_once_despite_losses(service: str) -> None:
    """Assured is exactly once, reliable at least once, datagram at most once: all three allow
    exactly once."""
    here, there, network = between(service)
    lost = iter([False, True])
    network.loses_answer = lambda _: next(lost, False)
    network.carry()
    network.advance(5)
    (pushed,) = [each for each in network.went if each.request.batch]
    assert pushed.answer is None
    assert re.findall(rb"class-of-service:(\w+)", pushed.data) == [service.encode()]
    queue = "strict" if service == "assured" else "incoming"
    assert there.bodies(queue) == [b"x"]
    assert not any(len(each.order) + len(each.order.locked) for each in here.state.names.outgoing.values())


@pytest.mark.spec("HR-050")
@pytest.mark.parametrize(("service", "left"), [("assured", [b"x"]), ("reliable", [b"x"]), ("datagram", [])])
def test_only_a_datagram_may_be_lost_by_a_crash(service: str, left: list[bytes]) -> None:
    here, there, network = between(service)
    here.flush()
    network.crash(here)
    network.advance(5)
    assert there.bodies("strict" if service == "assured" else "incoming") == left


def test_a_class_that_does_not_exist_is_no_httpr() -> None:
    side = Side("yourhost")
    answer = push(ScriptedClient(side), 1, "<a|class-of-service:express>")
    assert answer[-2] == "error:520 HTTP-R-PROTOCOL-ERROR"
    assert side.bodies("incoming") == []


# -- priority, 6.2.5


@pytest.mark.httpr("T41")
@pytest.mark.spec("HR-111")
def test_a_higher_priority_is_fetched_first_and_equals_keep_their_order() -> None:
    side = Side("yourhost")
    side.create("orders")
    client = ScriptedClient(side, service="orders")
    push(client, 1, "<a|priority:9>", "<b|priority:0>", "<c|priority:4>")
    push(client, 2, "<d>", "<e|priority:0>", "<f|priority:9>", "<g|priority:4>")  # none is 4
    assert pull(client)[-2] == "<a> <f> <c> <d> <g> <b> <e>"


@pytest.mark.httpr("T41", "T37")
@pytest.mark.spec("HR-109")
def test_a_priority_that_we_do_not_have_goes_on_as_it_came() -> None:
    side = Side("yourhost")
    side.create("orders")
    client = ScriptedClient(side, service="orders")
    push(client, 1, "<a|priority:9>", "<b|priority:8>")
    caller = client.sends("request:PULL HTTPR/1.0", *WHO)
    side.advance(0.2)
    data = side.response(caller)
    assert data is not None
    assert re.findall(rb"priority:(\d)", data) == [b"9", b"8"]


# -- how long a PULL waits, 6.1.5


def answered_after(side: Side, caller: int) -> int:
    """Return milliseconds that pass until there is an answer."""
    for passed in range(0, 20_000, 10):
        if side.response(caller) is not None:
            return passed
        side.advance(0.01)
    raise AssertionError("no answer in twenty seconds")


@pytest.mark.httpr("T39", "H11")
@pytest.mark.spec("HR-094", "HR-097")
@pytest.mark.parametrize(
    ("capabilities", "after"),
    [
        ("flows=PULL", 100),
        ("empty_batch_delay=300,max_wait_batch=1000", 300),
        ("empty_batch_delay=5000,max_wait_batch=1000", 1000),
        ("empty_batch_delay=0", 0),
    ],
)
def test_a_pull_that_gets_nothing_is_answered_in_time(capabilities: str, after: int) -> None:
    side = Side("yourhost")
    client = ScriptedClient(side)
    caller = client.sends("request:PULL HTTPR/1.0", *WHO, f"capabilities:{capabilities}")
    assert answered_after(side, caller) == after
    assert client.hears(caller)[1:] == ["outcome:COMMIT", "completed:0000000000000000"]


@pytest.mark.httpr("T40")
@pytest.mark.spec("HR-095", "HR-096")
@pytest.mark.parametrize(
    ("capabilities", "after", "messages"),
    [
        ("max_wait_batch=5000", 100, "<0> <1>"),  # so long after the first
        ("max_wait_batch=5000,max_latency=5000", 540, "<0> <1> <2> <3> <4> <5> <6> <7> <8> <9>"),  # full
        ("max_wait_batch=5000,max_latency=5000,max_wait_next=50", 50, "<0>"),
        ("max_wait_batch=90", 90, "<0> <1>"),
        ("max_wait_batch=5000,maximum_batch_size=2", 60, "<0> <1>"),
    ],
)
def test_a_batch_is_closed_in_time(capabilities: str, after: int, messages: str) -> None:
    side = Side("yourhost")
    client = ScriptedClient(side)
    side.send("outgoing", b"0")
    caller = client.sends("request:PULL HTTPR/1.0", *WHO, f"capabilities:{capabilities}")
    passed = 0
    for number in range(1, 200):  # and one more every 60 ms
        while passed < 60 * number and side.response(caller) is None:
            side.advance(0.01)
            passed += 10
        if side.response(caller) is not None:
            break
        side.send("outgoing", b"%d" % number)
    assert passed == after
    assert client.hears(caller)[-2] == messages


# -- expiry, 6.2.12


@pytest.mark.httpr("T42")
@pytest.mark.spec("HR-113")
def test_a_message_is_not_presented_when_its_time_is_over() -> None:
    side = Side("yourhost")
    side.create("orders")
    client = ScriptedClient(side, service="orders")
    noon = "put-time:14 Nov 2023 22:13:20"
    assert push(client, 1, f"<short|{noon}|expiry:1>", f"<long|{noon}|expiry:60>")[0] == "outcome:COMMIT"
    side.advance(2)
    assert pull(client)[-2] == "<long>"


# -- who may, 3.11


@pytest.mark.httpr("T36")
@pytest.mark.spec("HR-049", "HR-084")
def test_user_ids_that_are_not_listed_are_refused() -> None:
    side = Side("yourhost", chosen=settings(user_ids=("alice", "bob")))
    client = ScriptedClient(side)
    assert push(client, 1, "<a|user-id:alice>", "<b|user-id:mallory>") == [
        "session:end",
        "outcome:ROLLBACK",
        "completed:0000000000000001",
        "error:526 USERID-SECURITY",
        "app-reliquary-reason:mallory may not send here",
    ]
    assert push(client, 2, "<a>")[-2:] == [
        "error:526 USERID-SECURITY",
        "app-reliquary-reason:a message without user-id may not send here",
    ]
    assert side.bodies("incoming") == []
    assert push(client, 3, "<a|user-id:alice>", "<b|user-id:bob>")[0] == "outcome:COMMIT"
    assert side.bodies("incoming") == [b"a", b"b"]


@pytest.mark.httpr("T34")
@pytest.mark.spec("HR-084")
def test_an_agent_that_may_not_send_or_fetch_is_refused() -> None:
    side = Side("yourhost")
    side.create("vault", security=NO_RIGHTS)
    side.send("vault", b"gold")
    client = ScriptedClient(side, service="vault", by=ALICE)
    side.happened()
    assert push(client, 1, "<a>")[:-1] == [
        "session:end",
        "outcome:ROLLBACK",
        "completed:0000000000000001",
        "error:525 AGENT-SECURITY",
    ]
    assert side.happened() == ["last-received-id=1 ROLLBACK", "<-- ROLLBACK 1, 525"]
    assert pull(client)[-2] == "error:525 AGENT-SECURITY"
    assert side.channel.in_doubt == ()
    assert side.bodies("vault") == [b"gold"]


def test_what_may_be_done_is_not_refused() -> None:
    side = Side("yourhost")
    client = ScriptedClient(side, by=ALICE)
    assert push(client, 1, "<a>")[0] == "outcome:COMMIT"
    side.send("outgoing", b"b")
    assert pull(client)[-2:] == ["<b>", LAST]
