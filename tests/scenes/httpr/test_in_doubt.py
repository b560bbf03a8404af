"""What is in doubt: late requests, peers that are not sure themselves, peers that begin to count anew.

What was given up under an id is never taken under it, however late it comes.
"""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.effects import CutConnection
from reliquary.protocols.httpr.settings import Peer
from tests.scenes.httpr.harness import ScriptedClient, ScriptedServer, Side
from tests.scenes.httpr.network import Network
from tests.scenes.httpr.script import to_bytes, to_lines

RESPONDER = "httpr://yourhost/service"
THERE = "DIRECT=HTTPR://yourhost/service#orders"
WHO = ("requester:httpr://myhost/service", "channel:primary")
LAST = "payload-disposition:last"
PUSH = "request:PUSH HTTPR/1.0"
REPORT = "request:REPORT HTTPR/1.0"


def begin(server: ScriptedServer, session: int, completed: int = 0) -> None:
    """Let our client begin a session."""
    assert server.hears()[0] == "request:GET-RESPONDER-INFO HTTPR/1.0"
    one = "capabilities:maximum_pipeline_depth=1,maximum_batch_size=1"
    server.answers(
        "HTTPR/1.0", f"sessionid:{session}", one, "outcome:COMMIT", f"completed:{completed:016X}"
    )  # fmt: skip


# -- our server


@pytest.mark.httpr("T14", "T31", "H14")
@pytest.mark.spec("HR-041", "HR-055", "HR-058", "HR-082")
def test_a_push_that_was_given_up_comes_late_on_its_old_connection_or_on_a_new_one() -> None:
    side = Side("yourhost")
    client = ScriptedClient(side)
    client.says(PUSH, *WHO, "transactionid:0000000000000004", "<a>", LAST)
    older = client.connection
    client.fails()  # batch 5 is on its way there, and stays on it for a while
    answer = client.says(REPORT, *WHO, "last-pushed-id:0000000000000005")
    assert answer[-2:] == ["outcome:COMMIT", "completed:0000000000000004"]
    late = to_bytes(PUSH, *WHO, "transactionid:0000000000000005", "<b>", LAST)
    said = side.response(side.post(late, older))
    assert said is not None
    assert to_lines(said) == [
        "session:end",
        "error:529 OUT-OF-SEQUENCE-TRANSACTION-DISCARDED",
        "app-reliquary-reason:a later connection carries the channel",
    ]
    assert CutConnection(older) in side.out
    assert client.says(PUSH, *WHO, "transactionid:0000000000000005", "<b>", LAST)[1:] == [
        "session:end",
        "outcome:ROLLBACK",
        "completed:0000000000000005",
        "error:529 OUT-OF-SEQUENCE-TRANSACTION-DISCARDED",
        "app-reliquary-reason:batch 5 is late",
    ]
    assert client.says(PUSH, *WHO, "transactionid:0000000000000006", "<b>", LAST)[-2:] == [
        "outcome:COMMIT",
        "completed:0000000000000006",
    ]
    assert side.bodies("incoming") == [b"a", b"b"]


@pytest.mark.httpr("T44", "T11")
@pytest.mark.spec("HR-041", "HR-059")
def test_what_is_still_on_an_older_connection_is_not_taken_after_forget() -> None:
    side = Side("yourhost")
    client = ScriptedClient(side)
    client.says(PUSH, *WHO, "transactionid:0000000000000001", "<a>", LAST)
    older = client.connection
    client.fails()
    client.says(REPORT, *WHO, "last-pushed-id:0000000000000001", "forget:0000000000000001")
    assert side.channel.last_received_id == 0
    again = to_bytes(PUSH, *WHO, "transactionid:0000000000000001", "<a>", LAST)
    said = side.response(side.post(again, older))
    assert said is not None
    assert to_lines(said)[-2] == "error:529 OUT-OF-SEQUENCE-TRANSACTION-DISCARDED"
    assert side.bodies("incoming") == [b"a"]
    # on the newer one the client may begin to count anew, as the examples of chapter 4 do
    assert client.says(PUSH, *WHO, "transactionid:0000000000000001", "<b>", LAST)[-2] == "outcome:COMMIT"
    assert side.bodies("incoming") == [b"a", b"b"]


@pytest.mark.httpr("T19")
@pytest.mark.spec("HR-076")
def test_a_client_that_is_not_sure_of_what_it_fetched_says_so_until_it_is() -> None:
    side = Side("yourhost")
    side.send("outgoing", b"x")
    client = ScriptedClient(side)
    client.says("request:GET-RESPONDER-INFO HTTPR/1.0", *WHO, "session:begin")
    client.says("request:PULL HTTPR/1.0", "sessionid:1")
    unsure = ("outcome:INDOUBT", "completed:0000000000000001")
    assert client.says(REPORT, "sessionid:1", *unsure)[:2] == [
        "session:end",
        "last-pulled-id:0000000000000001",
    ]
    assert side.channel.in_doubt == (1,)
    assert side.bodies("outgoing") == []
    side.restart()
    client.fails()
    assert side.bodies("outgoing") == []
    client.says(REPORT, *WHO, "outcome:ROLLBACK", "completed:0000000000000001")
    assert side.bodies("outgoing") == [b"x"]
    assert client.says("request:PULL HTTPR/1.0", *WHO)[1] == "transactionid:0000000000000002"


# -- our client


@pytest.mark.httpr("T19")
@pytest.mark.spec("HR-068", "HR-078")
def test_a_server_that_is_not_sure_is_asked_until_it_is() -> None:
    side = Side("myhost", Peer(responder=RESPONDER, channel="primary"))
    side.send(THERE, b"a")
    side.send(THERE, b"b")
    server = ScriptedServer(side)
    begin(server, 1)
    server.hears()
    side.happened()
    server.answers("session:end", "outcome:INDOUBT", "completed:0000000000000001")
    for session in (2, 3):
        side.advance(10)
        begin(server, session)
        assert server.hears()[0] == REPORT
        server.answers(
            "last-pulled-id:0000000000000000", "outcome:INDOUBT", "completed:0000000000000001"
        )  # fmt: skip
        assert side.channel.in_doubt == (1,)
    side.advance(20)
    begin(server, 4)
    assert "last-pushed-id:0000000000000001" in server.hears()
    assert "--> PUSH 2" not in side.happened()
    server.answers("last-pulled-id:0000000000000000", "outcome:ROLLBACK", "completed:0000000000000001")
    assert side.happened() == ["restore 1", "set 2 indoubt, last-source-id=2", "--> PUSH 2"]
    assert server.hears()[2:] == ["transactionid:0000000000000002", "<a>", LAST]


@pytest.mark.httpr("T15")
@pytest.mark.spec("HR-055", "HR-081")
def test_a_batch_that_comes_again_is_not_stored_but_one_after_forgetting_is() -> None:
    side = Side("myhost", Peer(responder=RESPONDER, channel="primary", pull=True, into="incoming"))
    server = ScriptedServer(side)
    begin(server, 1)
    server.hears()
    server.answers("transactionid:0000000000000001", "<a>", LAST)
    server.hears()
    server.answers("transactionid:0000000000000001", "<a>", LAST)
    assert side.bodies("incoming") == [b"a"]
    begin(server, 2)
    assert server.hears()[:1] == [REPORT]
    server.answers("last-pulled-id:0000000000000000", "outcome:COMMIT", "completed:0000000000000000")
    assert server.hears()[0] == "request:PULL HTTPR/1.0"  # the server has forgotten, and begins anew
    server.answers("transactionid:0000000000000001", "<b>", LAST)
    assert side.bodies("incoming") == [b"a", b"b"]


# -- both


@pytest.mark.httpr("T29", "T33")
@pytest.mark.spec("HR-009", "HR-010", "HR-031")
def test_two_agents_send_to_each_other_over_channels_that_know_nothing_of_each_other() -> None:
    alpha, beta = Side("alpha.example"), Side("beta.example")
    network = Network(alpha, beta)
    network.loses_answer = lambda lines: "transactionid:0000000000000002" in lines
    for number in range(3):
        alpha.send("DIRECT=HTTPR://beta.example/httpr/mq#incoming", b"to beta %d" % number)
        beta.send("DIRECT=HTTPR://alpha.example/httpr/mq#incoming", b"to alpha %d" % number)
        network.carry()
    network.advance(5)
    assert beta.bodies("incoming") == [b"to beta 0", b"to beta 1", b"to beta 2"]
    assert alpha.bodies("incoming") == [b"to alpha 0", b"to alpha 1", b"to alpha 2"]
    for side in (alpha, beta):
        rows = side.httpr.state.channels.values()
        assert {row.role.value: (row.last_source_id, row.last_received_id) for row in rows} == {
            "client": (3, 0),
            "server": (0, 3),
        }
