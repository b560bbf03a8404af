"""The server agent: who asks, over which connection, in which order, and what is refused at once."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from reliquary.protocols.httpr.codec.values import Capabilities, Command, ErrorNumber, SessionMark
from reliquary.protocols.httpr.effects import CutConnection
from reliquary.protocols.httpr.events import Answer, ForgetChannel, RequestArrived, RequestBegun
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.server.agent import COMMANDS
from reliquary.protocols.httpr.settings import AGENT_TYPE, OFFERED, HttprSettings, Service
from reliquary.queueing.security.principals import ANONYMOUS, Principal
from reliquary.wire.security import Sid
from tests.protocols.httpr.client_harness import (
    CLIENT,
    COMMIT,
    ROLLBACK,
    Client,
    bodies,
    ends,
    error,
    pair,
)
from tests.protocols.httpr.httpr_harness import ORIGIN, HttprBench

WAITS = Capabilities(max_wait_batch=5000)


def cuts(bench: HttprBench) -> list[int]:
    return [effect.connection for effect in bench.out if isinstance(effect, CutConnection)]


def test_every_command_has_its_rule() -> None:
    assert set(COMMANDS) == set(Command)


# -- D.1, in its order


@pytest.mark.httpr("T47")
@pytest.mark.spec("HR-084")
@pytest.mark.parametrize("number", [519, 520, 530])
def test_what_cannot_be_read_is_refused_and_changes_nothing(number: int) -> None:
    bench = HttprBench()
    caller = bench.new_caller()
    bench.handle(RequestArrived(caller, 1, "orders", None, fault=ErrorNumber(number), why="nonsense"))
    answer = bench.answer_to(caller)
    assert (error(answer), pair(answer), ends(answer), answer.why) == (number, (None, None), True, "nonsense")
    assert bench.httpr.state.channels == {}


@pytest.mark.spec("HR-084")
def test_a_batch_behind_one_that_could_not_be_read_is_not_taken() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=4)
    client.push(1, b"a")
    unreadable = client.bench.new_caller()
    client.bench.handle(RequestArrived(unreadable, client.connection, "orders", None, fault=ErrorNumber(520)))
    assert error(client.push(3, b"c")) == 528
    assert client.bench.bodies() == [b"a"]


@pytest.mark.spec("HR-086")
@pytest.mark.httpr("T35")
def test_another_version_is_refused_and_ends_the_session() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=4)
    answer = client.push(1, b"a", version="HTTPR/2.0")
    assert (error(answer), pair(answer), ends(answer)) == (530, (None, None), True)
    assert error(client.push(2, b"b")) == 528
    assert client.bench.bodies() == []


@pytest.mark.spec("HR-061")
@pytest.mark.httpr("T07")
@pytest.mark.parametrize("missing", ["requester", "channel"])
def test_a_request_without_a_session_names_its_channel(missing: str) -> None:
    answer = Client(HttprBench()).push(1, b"a", **{missing: ""})
    assert (error(answer), pair(answer)) == (520, (ROLLBACK, 1))


@pytest.mark.spec("HR-089", "HR-090")
@pytest.mark.httpr("T32")
@pytest.mark.parametrize(
    ("named", "number"),
    [
        ("", 0),
        ("httpr://bench.example/httpr/orders", 0),
        ("httpr://localhost/httpr/orders", 0),
        ("httpr://bench.example/orders", 0),
        ("httpr:/orders", 0),
        ("httpr://other.example/httpr/orders", 511),
        ("httpr://bench.example/httpr/invoices", 511),
        ("httpr://bench.example/httpr/orders#x", 511),
        ("nonsense", 511),
    ],
)
def test_the_responder_that_is_meant_is_us(named: str, number: int) -> None:
    client = Client(HttprBench())
    answer = client.push(1, b"a", responder=named)
    assert error(answer) == number
    if number:
        assert (pair(answer), ends(answer)) == ((ROLLBACK, 1), True)
        assert answer.header.responder == f"{ORIGIN}/httpr/orders"
        assert client.bench.bodies() == []
    else:
        assert answer.header.responder == (named or f"{ORIGIN}/httpr/orders")
        assert client.row.responder == f"{ORIGIN}/httpr/orders", "it is one channel, whatever it calls us"


@pytest.mark.spec("HR-090")
def test_services_that_are_not_listed_may_be_unknown() -> None:
    settings = HttprSettings(open_services=False, services=(Service(name="shop", into="orders"),))
    bench = HttprBench(settings=settings)
    assert error(Client(bench).push(1, b"a")) == 511
    assert pair(Client(bench, service="shop").push(1, b"a")) == (COMMIT, 1)
    assert error(Client(bench, service="mq").report()) == 0
    assert bench.bodies() == [b"a"]


@pytest.mark.spec("HR-011")
@pytest.mark.httpr("T32")
def test_channels_that_are_not_known_may_be_refused() -> None:
    bench = HttprBench(settings=HttprSettings(open_channels=False, channels=("known",)))
    answer = Client(bench).push(1, b"a")
    assert (error(answer), pair(answer), ends(answer)) == (512, (ROLLBACK, 1), True)
    assert pair(Client(bench, channel="known").push(1, b"a")) == (COMMIT, 1)
    assert len(bench.httpr.state.channels) == 1


def test_nothing_is_served_before_we_know_our_name() -> None:
    answer = Client(HttprBench(addressed=False)).push(1, b"a")
    assert (error(answer), pair(answer)) == (513, (ROLLBACK, 1))


@pytest.mark.spec("HR-084")
def test_commands_outside_the_agreed_flows_are_refused_and_report_never_is() -> None:
    offered = replace(OFFERED, flows=frozenset({Command.PUSH}))
    client = Client(HttprBench(settings=HttprSettings(offered=offered)))
    client.begin()
    refused = client.exchange(1, b"a")
    assert (error(refused), pair(refused), ends(refused)) == (524, (ROLLBACK, 1), True)
    client.begin()
    assert error(client.report()) == 0
    assert pair(client.push(2, b"a")) == (COMMIT, 2)
    assert error(client.pull()) == 524


@pytest.mark.spec("HR-101")
@pytest.mark.httpr("T01")
def test_the_first_response_of_a_connection_says_who_we_are() -> None:
    client = Client(HttprBench())
    assert [client.push(batch, b"a").header.agent_type for batch in (1, 2)] == [AGENT_TYPE, ""]
    client.connect()
    assert client.report().header.agent_type == AGENT_TYPE
    assert error(client.report(session_id="NOBODY")) == 528
    client.connect()
    assert client.report(session_id="NOBODY").header.agent_type == AGENT_TYPE


@pytest.mark.spec("HR-035")
def test_the_responder_stands_in_every_answer_outside_a_session() -> None:
    client = Client(HttprBench())
    name = f"{ORIGIN}/httpr/orders"
    answers = [client.push(1, b"a"), client.report(), client.pull(), client.push(1, b"a")]
    assert [answer.header.responder for answer in answers] == [name] * 4
    assert client.begin().header.responder == name
    assert client.push(2, b"a").header.responder == ""


ALICE = Principal(Sid(5, (21, 1, 2, 3, 1001)), name="alice")
MALLORY = Principal(Sid(5, (21, 1, 2, 3, 1002)), name="mallory")


def as_user(client: Client, by: Principal, command: Command, **fields: Any) -> Answer:
    header = client.header(command, **fields)
    return client.bench.request(header, connection=client.connection, service=client.service, by=by)


@pytest.mark.spec("HR-084")
def test_a_channel_belongs_to_the_first_user_who_says_who_he_is() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"a")
    client.pull(0)
    assert error(as_user(client, ALICE, Command.REPORT)) == 0
    for other in (MALLORY, ANONYMOUS):
        refused = as_user(client, other, Command.REPORT, completed=1, outcome=COMMIT)
        assert (error(refused), ends(refused)) == (525, True)
        assert error(as_user(client, other, Command.GET_RESPONDER_INFO)) == 525
        begun = client.header(Command.PULL)
        client.bench.handle(RequestBegun(client.connection + 1, "orders", begun, other))
    assert cuts(client.bench) == []
    assert client.in_doubt == [1]
    client.bench.restart()
    assert error(as_user(client, MALLORY, Command.REPORT)) == 525
    assert error(as_user(client, ALICE, Command.REPORT, completed=1, outcome=COMMIT)) == 0
    client.bench.handle(ForgetChannel(client.bench.new_caller(), client.row.number))
    assert error(as_user(client, MALLORY, Command.REPORT)) == 0, "an administrator has freed it"


# -- sessions and those without


@pytest.mark.spec("HR-014")
@pytest.mark.httpr("T30")
def test_a_request_without_a_session_ends_the_session_of_its_channel() -> None:
    client = Client(HttprBench())
    client.begin()
    session, client.session = client.session, ""
    assert pair(client.push(1, b"a")) == (COMMIT, 1)
    assert error(client.push(2, b"b", session_id=session)) == 528


@pytest.mark.spec("HR-012", "HR-062")
@pytest.mark.httpr("T07")
def test_without_a_session_there_is_one_request_at_a_time() -> None:
    client = Client(HttprBench())
    first = client.pull_later(capabilities=WAITS)
    second = client.ask_later(Command.PUSH, b"a", transaction_id=1)
    assert client.answer_to(second) is None, "answers come in the order of the requests"
    client.wait_for(first)
    refused = client.wait_for(second)
    assert (error(refused), pair(refused)) == (523, (ROLLBACK, 1))
    assert client.bench.bodies() == []


@pytest.mark.spec("HR-044", "HR-045", "HR-046")
@pytest.mark.httpr("T28")
def test_more_requests_than_agreed_are_refused_in_their_order() -> None:
    client = Client(HttprBench("orders", "source"))
    client.bench.httpr.state.settings = HttprSettings(
        services=(Service(name="orders", into="orders", source="source"),)
    )
    client.begin(maximum_pipeline_depth=3, max_wait_batch=5000)
    callers = [client.pull_later(0)]
    callers += [client.ask_later(Command.PUSH, b"%d" % batch, transaction_id=batch) for batch in (1, 2, 3, 4)]
    client.wait_for(callers[0])
    answers = [client.wait_for(caller) for caller in callers]
    assert [error(answer) for answer in answers] == [0, 0, 0, 523, 528]
    assert [pair(answer) for answer in answers[1:4]] == [(COMMIT, 1), (COMMIT, 2), (ROLLBACK, 3)]
    assert client.bench.bodies() == [b"1", b"2"]


@pytest.mark.spec("HR-009", "HR-084")
@pytest.mark.httpr("T23")
def test_what_is_pipelined_behind_a_rollback_is_not_taken() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=3)
    client.push(1, b"1")
    assert pair(client.push(2, fault=ErrorNumber(521))) == (ROLLBACK, 2)
    assert error(client.push(3, b"3")) == 528
    assert pair(client.begin()) == (COMMIT, 1)
    client.report(last_pushed_id=3)
    assert pair(client.push(4, b"2")) == (COMMIT, 4)
    assert pair(client.push(5, b"3")) == (COMMIT, 5)
    assert client.bench.bodies() == [b"1", b"2", b"3"]


# -- connections, 3.8


@pytest.mark.spec("HR-013", "HR-041")
@pytest.mark.httpr("T31")
def test_a_later_connection_ends_the_older_one_and_what_waits_there() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=3, max_wait_batch=5000)
    older = client.connection
    stuck = client.pull_later(0)
    behind = client.ask_later(Command.PUSH, b"x", transaction_id=1)
    client.connect()
    assert pair(client.report(last_pushed_id=1)) == (COMMIT, 0)
    assert cuts(client.bench) == [older]
    for caller in (stuck, behind):
        answer = client.answer_to(caller)
        assert answer is not None
        assert (error(answer), pair(answer)) == (529, (None, None))
    late = client.push(2, b"late", connection=older)
    assert (error(late), pair(late)) == (529, (None, None))
    assert cuts(client.bench) == [older, older]
    assert client.bench.bodies() == []
    assert pair(client.push(3, b"x")) == (COMMIT, 3), "the session goes on over the later one"


@pytest.mark.spec("HR-041")
@pytest.mark.httpr("T31")
def test_the_header_alone_ends_older_connections() -> None:
    client = Client(HttprBench())
    client.begin()
    older = client.connection
    client.connect()
    begun = client.header(Command.PUSH, transaction_id=1)
    client.bench.handle(RequestBegun(client.connection, "orders", begun))
    assert cuts(client.bench) == [older]
    client.bench.handle(RequestBegun(older, "orders", begun))
    assert cuts(client.bench) == [older, older]
    assert error(client.push(1, b"a", connection=older)) == 529
    assert pair(client.push(1, b"a")) == (COMMIT, 1)


def test_a_header_of_a_channel_that_nobody_knows_ends_nothing() -> None:
    client = Client(HttprBench())
    client.bench.handle(RequestBegun(1, "orders", client.header(Command.PUSH)))
    client.bench.handle(RequestBegun(1, "orders", client.header(Command.PUSH, session_id="NOBODY")))
    assert cuts(client.bench) == []


def test_a_connection_that_is_gone_need_not_be_cut() -> None:
    client = Client(HttprBench())
    client.push(1, b"a")
    older = client.connection
    client.hang_up()
    client.connect()
    client.push(2, b"b")
    assert cuts(client.bench) == []
    assert error(client.push(3, b"c", connection=older)) == 529


@pytest.mark.spec("HR-117")
@pytest.mark.httpr("T09", "T29")
def test_a_connection_that_breaks_leaves_the_session_and_no_request() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=3, max_wait_batch=5000)
    client.pull_later(0)
    client.ask_later(Command.PUSH, b"x", transaction_id=1)
    client.hang_up()
    assert not client.served.line
    assert client.bench.bodies() == []
    client.connect()
    answer = client.report(last_pushed_id=1, session=SessionMark.END)
    assert (pair(answer), ends(answer)) == ((COMMIT, 0), True)


def test_connections_that_are_gone_are_not_remembered() -> None:
    client = Client(HttprBench())
    for batch in range(1, 20):
        client.push(batch, b"a")
        client.hang_up()
        client.connect()
    assert client.bench.httpr.state.connections == {}


def test_two_channels_on_one_connection() -> None:
    bench = HttprBench()
    p, q = Client(bench), Client(bench, channel="q")
    q.connection = p.connection
    p.push(1, b"p")
    q.push(1, b"q")
    p.connect()
    p.push(2, b"p")
    assert cuts(bench) == [q.connection]
    assert pair(q.push(2, b"q")) == (COMMIT, 2)


# -- administrators


@pytest.mark.spec("HR-084")
def test_an_administrator_closes_the_session_of_a_channel_that_he_forgets() -> None:
    client = Client(HttprBench())
    client.begin(maximum_pipeline_depth=2, max_wait_batch=5000)
    client.push(1, b"a")
    waits = client.pull_later(0)
    behind = client.ask_later(Command.PUSH, b"b", transaction_id=2)
    client.bench.handle(ForgetChannel(client.bench.new_caller(), client.row.number))
    for caller in (waits, behind):
        answer = client.answer_to(caller)
        assert answer is not None
        assert (error(answer), pair(answer), ends(answer)) == (516, (COMMIT, 1), True)
    assert error(client.push(2, b"b")) == 528
    assert client.bench.bodies() == [b"a"]


def test_a_channel_with_something_in_doubt_is_not_closed() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"a")
    client.begin()
    client.pull(0)
    client.bench.handle(ForgetChannel(client.bench.new_caller(), client.row.number))
    assert client.in_doubt == [1]
    assert error(client.pull(1)) == 0, "the session goes on"


def test_a_channel_over_which_nothing_goes_on_is_not_closed() -> None:
    client = Client(HttprBench())
    client.push(1, b"a")
    client.bench.restart()
    client.bench.handle(ForgetChannel(client.bench.new_caller(), client.row.number))
    assert client.bench.httpr.state.served == {}


# -- more than one hop


@pytest.mark.httpr("T37")
def test_the_managers_own_service_gives_what_is_addressed_to_who_asks() -> None:
    bench = HttprBench()
    bench.send("DIRECT=HTTPR://client.example/app#in", b"1", b"2")
    bench.send("DIRECT=HTTPR://other.example/app#in", b"x")
    client = Client(bench, service="mq")
    client.begin(max_wait_batch=5000)
    answer = client.pull(0)
    assert bodies(answer) == [b"1", b"2"]
    bench.send("DIRECT=HTTPR://other.example/app#in", b"y")
    bench.send("DIRECT=HTTPR://client.example/app#more", b"3")
    assert bodies(client.pull(1)) == [b"3"]
    waits = client.pull_later(2)
    bench.send("DIRECT=HTTPR://other.example/app#in", b"z")
    bench.send("DIRECT=HTTPR://client.example/app#new", b"4")
    bench.send("DIRECT=HTTPR://client.example/app#in", b"5")
    assert bodies(client.wait_for(waits)) == [b"4"]
    assert bodies(client.pull(3)) == [b"5"]
    assert client.row.pulled, "nobody need be dialled for them"
    client.report(completed=4, outcome=COMMIT)
    assert [queue.stored for queue in bench.state.outgoing.values()] == [0, 3, 0, 0], "the other's stay"


def test_outgoing_queues_of_one_agent_have_their_turns() -> None:
    bench = HttprBench()
    for name in ("a", "b", "c"):
        bench.send(f"DIRECT=HTTPR://client.example/app#{name}", *[name.encode()] * 2)
    client = Client(bench, service="mq")
    client.begin(maximum_batch_size=1)
    seen = [bodies(client.pull(batch)) for batch in range(6)]
    assert seen == [[b"a"], [b"b"], [b"c"], [b"a"], [b"b"], [b"c"]]


# -- what is on disk


@pytest.mark.spec("HR-031", "HR-050")
def test_after_each_step_what_is_rebuilt_equals_what_is_live() -> None:
    bench = HttprBench()
    client = Client(bench)
    steps: list[tuple[str, dict[str, Any]]] = [
        ("begin", {}),
        ("push", {"batch": 1}),
        ("pull", {"completed": 0}),
        ("report", {"completed": 1, "outcome": COMMIT, "last_pushed_id": 1}),
        ("report", {"forget": 1, "last_pushed_id": 1}),
        ("push", {"batch": 2, "fault": ErrorNumber(520)}),
    ]
    for name, options in steps:
        answer = getattr(client, name)(**options)
        assert answer is not None
        bench.flush()
        rebuilt = Httpr(bench.rows, bench.settings).state
        live = bench.httpr.state
        assert (rebuilt.channels, rebuilt.numbers) == (live.channels, live.numbers), name
    assert client.row.requester == CLIENT
