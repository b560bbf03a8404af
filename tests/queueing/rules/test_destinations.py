"""Tests of the search for the queue that a name means."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reliquary.base.hresult import HResult
from reliquary.protocols.httpr.schemes import AGENT_PATH, WORDS
from reliquary.queueing.model.events import Access, DeleteQueue, OpenQueue
from reliquary.queueing.model.names.formats import key_of, parse_format
from reliquary.queueing.model.queue import QueueType
from reliquary.queueing.model.queue_state import QueueState
from reliquary.queueing.model.security.principals import MANAGER
from reliquary.queueing.model.state import State
from reliquary.queueing.model.travel.transfer import AddressesKnown
from reliquary.queueing.rules.destinations import find, same, to_receive, to_send
from reliquary.queueing.travel.steering import on_addresses_known
from tests.queueing.answers import everything
from tests.queueing.manager_harness import Bench

GUID = "0F0E0D0C-0B0A-0908-0706-050403020100"
ELSEWHERE = "DIRECT=OS:elsewhere\\private$\\orders"
WEB = "DIRECT=HTTP://elsewhere/msmq/private$/orders"


def status(bench: Bench, name: str, access: Access) -> HResult:
    answer = bench.ask(OpenQueue(0, name, access))
    assert isinstance(answer.status, HResult)
    return answer.status


def outgoing(bench: Bench, name: str) -> QueueState:
    queue = find(bench.state, name)
    assert queue is not None
    assert queue.record.outgoing is not None
    return queue


# -- queues of our own


@pytest.mark.spec("DM-166")
def test_every_kind_of_name_finds_the_queue() -> None:
    state = Bench().state
    identity, queue = state.identity(), find(state, "orders")
    assert queue is not None
    for name in (
        f"DIRECT=OS:{identity.computer_name.upper()}\\private$\\ORDERS",
        f"DIRECT=OS:{identity.qualified_computer_name}\\private$\\orders",
        "DIRECT=TCP:127.0.0.1\\private$\\orders",
        "DIRECT=HTTP://localhost/msmq/private$/orders",
        f"PRIVATE={identity.identifier}\\{queue.number:x}",
        f"PUBLIC={queue.record.identifier}",
        f"{identity.computer_name}\\private$\\orders",
    ):
        assert find(state, name) is queue, name
        assert same(state, name, "orders"), name
    assert find(state, f"MACHINE={identity.identifier};DEADXACT") is state.system_queue("deadxact")
    journal = find(state, f"PRIVATE={identity.identifier}\\{queue.number:x};JOURNAL")
    assert journal is not None
    assert journal.record.is_journal
    for name in (ELSEWHERE, "DIRECT=OS:.\\orders", "MULTICAST=224.1.1.1:1", f"{ELSEWHERE},{WEB}"):
        assert find(state, name) is None, name
        assert not same(state, name, "orders"), name


@pytest.mark.spec("DM-164")
def test_the_managers_own_queues_are_not_for_sending() -> None:
    bench = Bench()
    name = f"MACHINE={bench.state.identity().identifier};DEADLETTER"
    assert status(bench, name, Access.SEND) is HResult.UNSUPPORTED_FORMATNAME_OPERATION
    assert status(bench, name, Access.PEEK) is HResult.OK


@pytest.mark.spec("DM-168", "DM-170", "DM-167")
def test_a_queue_that_would_be_here_and_is_not_is_not_found() -> None:
    bench = Bench()
    before = everything(bench.state)
    for name in (
        "DIRECT=OS:.\\private$\\missing",
        f"DIRECT=OS:{bench.state.identity().computer_name}\\missing",
        "DIRECT=HTTP://localhost/msmq/missing",
        f"PRIVATE={bench.state.identity().identifier}\\FFFF",
        "missing",
    ):
        assert status(bench, name, Access.SEND) is HResult.QUEUE_NOT_FOUND, name
    for name in (ELSEWHERE, f"PRIVATE={GUID}\\1", f"PUBLIC={GUID}"):
        assert status(bench, name, Access.RECEIVE) is HResult.QUEUE_NOT_FOUND, name
    assert everything(bench.state) == before


# -- by URL


def addressed(*authorities: str) -> Bench:
    """Return a bench that is reached under these authorities."""
    bench = Bench("orders", "orders;retry", "two words")
    bench.create(".\\public")
    bench.manager.on_signal(AddressesKnown(("HTTP", "HTTPS"), frozenset(authorities)), bench.now)
    return bench


@pytest.mark.parametrize(
    ("url", "ours"),
    [
        ("HTTP://localhost/msmq/private$/orders", True),
        ("HTTP://BENCH/msmq/private$/orders", True),
        ("HTTP://bench.example.org/msmq/private$/orders", False),
        ("HTTP://bench:80/msmq/private$/orders", True),
        ("HTTPS://bench:443/msmq/private$/orders", True),
        ("HTTPS://bench:80/msmq/private$/orders", False),
        ("HTTP://bench:8480/msmq/private$/orders", False),
        ("HTTP://localhost:8480/msmq/private$/orders", False),
        ("HTTP://[::1]/msmq/private$/orders", True),
        ("HTTP://[::1]:8480/msmq/private$/orders", False),
    ],
)
def test_only_a_url_without_a_port_may_be_local_before_the_listeners_are_known(url: str, ours: bool) -> None:
    bench = Bench()
    assert (find(bench.state, f"DIRECT={url}") is bench.queue()) is ours


@pytest.mark.parametrize(
    ("url", "ours"),
    [
        ("HTTP://Web.Example:8480/msmq/private$/orders", True),
        ("HTTPS://web.example:8480/msmq/private$/orders", True),
        ("HTTP://web.example:8481/msmq/private$/orders", False),
        ("HTTP://web.example/msmq/private$/orders", False),
        ("HTTP://10.0.0.5/msmq/private$/orders", True),
        ("HTTP://10.0.0.5:80/msmq/private$/orders", True),
        ("HTTP://10.0.0.5:8480/msmq/private$/orders", False),
        ("HTTP://other:80/msmq/private$/orders", True),
        ("HTTP://other/msmq/private$/orders", False),
        ("HTTP://bench:8480/msmq/private$/orders", False),
        ("HTTP://bench/msmq/private$/orders", True),
    ],
)
def test_a_url_is_local_by_its_host_and_port_because_two_managers_may_share_a_host(
    url: str, ours: bool
) -> None:
    bench = addressed("web.example:8480", "10.0.0.5", "other:80")
    assert (find(bench.state, f"DIRECT={url}") is bench.queue()) is ours
    sent = bench.send(f"DIRECT={url}", b"m")
    assert sent.status is HResult.OK
    assert len(bench.state.names.outgoing) == (not ours)


@pytest.mark.parametrize(
    ("path", "queue"),
    [
        ("/msmq/private$/orders", "orders"),
        ("/MSMQ/Private$/ORDERS", "orders"),
        ("/msmq\\private$\\orders", "orders"),
        ("\\msmq\\private$\\orders", "orders"),
        ("/msmq/private$/orders?SenderStream=XRntV;a/b", "orders"),
        ("/msmq/private$/orders#part", "orders"),
        ("/msmq/private%24/%6frders", "orders"),
        ("/msmq/private$/two%20words", "two words"),
        ("/msmq/private$/orders;retry", "orders;retry"),
        ("/msmq/private$/orders%3Bretry?x", "orders;retry"),
        ("/msmq/public", ".\\public"),
        ("/msmq/private$/orders;journal", "orders;journal"),
        ("/msmq/system$;deadletter", "system$;deadletter"),
    ],
)
def test_the_path_of_a_url_is_read_as_the_path_name_that_it_means(path: str, queue: str) -> None:
    bench = addressed("bench:8480")
    assert find(bench.state, f"DIRECT=HTTP://bench:8480{path}") is bench.queue(queue)


@pytest.mark.parametrize(
    "path", ["/other/private$/orders", "/", "/msmq", "/msmq/private$/missing", "/msmq/orders"]
)
def test_a_local_url_without_a_local_queue_has_no_destination(path: str) -> None:
    bench = addressed("bench:8480")
    sent = bench.send(f"DIRECT=HTTP://bench:8480{path}", b"m")
    assert sent.status is HResult.QUEUE_NOT_FOUND
    assert not bench.state.names.outgoing


def test_a_name_that_means_another_queue_now_is_checked_against_that_queues_list() -> None:
    bench = addressed()
    bench.state.access.permitted.add(("any", MANAGER, 0))
    bench.manager.on_signal(AddressesKnown(("HTTP", "HTTPS"), frozenset({"bench:8480"})), bench.now)
    assert not bench.state.access.permitted


# -- by the URI of an agent


AGENT = "httpr://elsewhere/svc#Orders"


def agent(*authorities: str) -> Bench:
    """Return a bench whose agents have these authorities."""
    bench = Bench("orders", "orders;retry", "two words")
    bench.create(".\\public")
    bench.manager.on_signal(AddressesKnown(WORDS, frozenset(authorities), AGENT_PATH), bench.now)
    return bench


@pytest.mark.parametrize(
    ("uri", "queue"),
    [
        ("HTTPR://Bench:8480/httpr/mq#orders", "orders"),
        ("HTTPR://bench:8480/httpr/any#private$/orders", "orders"),
        ("HTTPRS://bench:8480/httpr/mq#.%5Cprivate$%5CORDERS", "orders"),
        ("HTTPR://bench:8480/httpr/mq#orders;retry", "orders;retry"),
        ("HTTPR://bench:8480/httpr/mq#two%20words", "two words"),
        ("HTTPR://bench:8480/httpr/mq#./public", ".\\public"),
        ("HTTPR://other:80/httpr/mq#orders", "orders"),
        ("HTTPR://plain/httpr/mq#orders", "orders"),
        ("HTTPR://plain:80/httpr/mq#orders", "orders"),
    ],
)
def test_the_text_after_the_name_of_the_local_agent_is_a_path_name(uri: str, queue: str) -> None:
    bench = agent("bench:8480", "other:80", "plain")
    assert find(bench.state, f"DIRECT={uri}") is bench.queue(queue)
    assert find(bench.state, uri) is bench.queue(queue)
    assert same(bench.state, uri, queue)
    assert not bench.state.names.outgoing


@pytest.mark.parametrize(
    "uri",
    [
        "httpr://bench:8481/httpr/mq#orders",
        "httpr://bench/httpr/mq#orders",
        "httpr://localhost/httpr/mq#orders",
        "httprs://plain:80/httpr/mq#orders",
        "httpr://bench:8480/others/mq#orders",
    ],
)
def test_an_agent_is_local_by_its_address_alone(uri: str) -> None:
    bench = agent("bench:8480", "plain")
    bench.manager.on_signal(
        AddressesKnown(("HTTP", "HTTPS"), frozenset({"bench:8481", "localhost"})), bench.now
    )
    assert bench.send(uri, b"m").status is HResult.OK
    assert [key_of(parse_format(f"DIRECT={uri}"))] == list(bench.state.names.outgoing)


@pytest.mark.parametrize("words", ["", "#", "#missing", "#a/b/c", "#elsewhere\\orders", "#%ff", "#;"])
def test_a_local_agent_without_a_local_queue_has_no_destination(words: str) -> None:
    bench = agent("bench:8480")
    before = everything(bench.state)
    assert bench.send(f"httpr://bench:8480/httpr/mq{words}", b"m").status is HResult.QUEUE_NOT_FOUND
    assert everything(bench.state) == before


def test_the_uri_of_an_agent_is_a_destination_as_its_format_name_is() -> None:
    bench = Bench()
    assert bench.send(AGENT, b"one").status is HResult.OK
    assert bench.send(f"DIRECT={AGENT}", b"two").status is HResult.OK
    assert bench.send("httpr://elsewhere/svc#orders", b"another queue").status is HResult.OK
    name = "DIRECT=HTTPR://elsewhere/svc#Orders"
    assert sorted(bench.state.names.outgoing) == [name, "DIRECT=HTTPR://elsewhere/svc#orders"]
    bench.restart(crash=False)
    again = outgoing(bench, name)
    assert [bench.state.messages.get(each).body for each in again.order.some(-1, 5)] == [b"one", b"two"]
    assert {bench.state.messages.get(each).destination_queue for each in again.order.some(-1, 5)} == {name}
    assert same(bench.state, AGENT, name)
    assert not same(bench.state, AGENT, name.lower())


def test_the_uri_of_an_agent_that_cannot_be_read_is_refused() -> None:
    bench = Bench()
    before = everything(bench.state)
    for uri in ("httpr://host", "httpr://user@host/svc#q", "httpr://host:0/svc#q", "httpr://host/a b"):
        assert bench.send(uri, b"one").status is HResult.ILLEGAL_FORMATNAME, uri
    assert everything(bench.state) == before


def test_a_name_that_now_means_a_local_queue_is_checked_against_that_queues_list() -> None:
    bench = agent()
    bench.state.access.permitted.add(("any", MANAGER, 0))
    bench.manager.on_signal(AddressesKnown(WORDS, frozenset({"bench:8480"}), AGENT_PATH), bench.now)
    assert not bench.state.access.permitted


# -- queues of other managers


@pytest.mark.spec("DM-171")
def test_sending_elsewhere_makes_one_outgoing_queue() -> None:
    bench = Bench()
    assert status(bench, ELSEWHERE, Access.SEND) is HResult.OK
    assert status(bench, ELSEWHERE.upper(), Access.SEND) is HResult.OK
    queue = outgoing(bench, ELSEWHERE)
    assert len(queue.readers.descriptors) == 2
    assert (queue.record.settings.label, queue.record.pathname) == (ELSEWHERE, ELSEWHERE)
    assert bench.send(ELSEWHERE, b"one").status is HResult.OK
    assert bench.send("elsewhere\\private$\\orders", b"two").status is HResult.OK
    assert len(bench.state.names.outgoing) == 1
    bench.restart(crash=False)
    again = outgoing(bench, ELSEWHERE)
    assert [bench.state.messages.get(each).body for each in again.order.some(-1, 5)] == [b"one", b"two"]
    assert {bench.state.messages.get(each).destination_queue for each in again.order.some(-1, 5)} == {
        ELSEWHERE
    }


@pytest.mark.spec("DM-163", "DM-165")
def test_web_and_multicast_names_are_only_for_sending() -> None:
    bench = Bench()
    for name in (WEB, AGENT, "MULTICAST=224.1.1.1:8001"):
        for access in (Access.RECEIVE, Access.PEEK):
            assert status(bench, name, access) is HResult.UNSUPPORTED_FORMATNAME_OPERATION
    local = "DIRECT=HTTP://localhost/msmq/private$/orders"
    assert status(bench, local, Access.RECEIVE) is HResult.UNSUPPORTED_FORMATNAME_OPERATION


@pytest.mark.spec("DM-174")
def test_a_multicast_name_makes_a_multicast_queue() -> None:
    bench = Bench()
    assert status(bench, "MULTICAST=224.1.1.1:8001", Access.SEND) is HResult.OK
    record = outgoing(bench, "MULTICAST=224.1.1.1:8001").record
    assert record.outgoing is not None
    assert record.outgoing.multicast


def test_only_administrators_look_into_an_outgoing_queue() -> None:
    bench = Bench()
    bench.send(WEB, b"one")
    assert status(bench, WEB, Access.PEEK_ADMIN) is HResult.OK
    assert status(bench, WEB, Access.PEEK) is HResult.UNSUPPORTED_FORMATNAME_OPERATION
    bench.send(AGENT, b"one")
    assert status(bench, AGENT, Access.RECEIVE_ADMIN) is HResult.OK
    assert status(bench, AGENT, Access.RECEIVE) is HResult.UNSUPPORTED_FORMATNAME_OPERATION
    bench.send(ELSEWHERE, b"one")
    assert status(bench, ELSEWHERE, Access.RECEIVE_ADMIN) is HResult.OK
    assert status(bench, ELSEWHERE, Access.RECEIVE) is HResult.QUEUE_NOT_FOUND


@pytest.mark.spec("DM-169")
def test_a_public_name_that_is_not_known_is_refused() -> None:
    bench = Bench()
    assert status(bench, f"PUBLIC={GUID}", Access.SEND) is HResult.UNSUPPORTED_FORMATNAME_OPERATION


@pytest.mark.parametrize("name", ["PUBLIC=1", "DIRECT=FTP:a\\q"])
def test_what_cannot_be_read_is_an_illegal_format_name(name: str) -> None:
    bench = Bench()
    before = everything(bench.state)
    assert bench.send(name, b"one").status is HResult.ILLEGAL_FORMATNAME
    assert status(bench, name, Access.SEND) is HResult.ILLEGAL_FORMATNAME
    assert everything(bench.state) == before


def test_a_connector_name_goes_out() -> None:
    bench = Bench()
    assert bench.send(f"CONNECTOR={GUID}", b"one").status is HResult.OK
    assert outgoing(bench, f"CONNECTOR={GUID}").record.kind is QueueType.CONNECTOR


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("TCP:10.0.0.5", True),
        ("TCP:fe80::1", True),
        ("TCP:FE80::1", True),
        ("TCP:10.0.0.6", False),
        ("OS:Alias.Example", True),
        ("OS:other.example", False),
    ],
)
def test_addresses_and_names_that_a_carrier_announces_mean_this_manager(name: str, ours: bool) -> None:
    bench = Bench()
    addresses = frozenset({"10.0.0.5", "fe80::1"})
    on_addresses_known(bench.state, AddressesKnown(("TCP",), addresses), bench.now)
    on_addresses_known(bench.state, AddressesKnown(("OS",), frozenset({"alias.example"})), bench.now)
    assert (find(bench.state, f"DIRECT={name}\\private$\\orders") is bench.queue()) is ours


@pytest.mark.parametrize(("find_queue", "name"), [(to_send, "orders"), (to_receive, "orders")])
def test_a_queue_that_was_found_once_is_looked_up_again_when_it_is_another(
    find_queue: Callable[[State, str], QueueState | None], name: str
) -> None:
    bench = Bench()
    first = bench.queue()
    assert find_queue(bench.state, name) is find_queue(bench.state, name) is first
    bench.ask(DeleteQueue(0, name))
    assert find_queue(bench.state, name) is None
    bench.create(name)
    assert find_queue(bench.state, name) is bench.queue() is not first


@pytest.mark.parametrize("name", ["system$;deadletter", ELSEWHERE, r"DIRECT=OS:.\private$\orders", "nowhere"])
def test_only_path_names_of_queues_that_take_messages_are_known_to_sends(name: str) -> None:
    bench = Bench()
    bench.send(ELSEWHERE, b"one")
    assert to_send(bench.state, name) is None
    assert not bench.state.names.to_send
