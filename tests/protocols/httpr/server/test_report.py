"""Tests REPORT: what it settles, what it forgets, and in which order."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.codec.values import SessionMark
from tests.protocols.httpr.client_harness import COMMIT, INDOUBT, ROLLBACK, Client, bodies, ends, error, pair
from tests.protocols.httpr.httpr_harness import HttprBench


@pytest.mark.spec("HR-058", "HR-082", "HR-055")
@pytest.mark.httpr("T14", "H14")
def test_a_batch_that_was_given_up_is_refused_when_it_comes_late() -> None:
    client = Client(HttprBench())
    for batch in (1, 2, 3, 4):
        client.push(batch, b"%d" % batch)
    late = client.connection
    client.connect()
    answer = client.report(last_pushed_id=5)
    assert (pair(answer), answer.header.last_pulled_id) == ((COMMIT, 4), 0)
    client.push(5, b"late", connection=late)
    assert client.bench.bodies() == [b"1", b"2", b"3", b"4"]
    refused = client.push(5, b"late")
    assert (error(refused), pair(refused), ends(refused)) == (529, (ROLLBACK, 5), True)
    assert pair(client.push(6, b"5")) == (COMMIT, 6)
    assert client.bench.bodies() == [b"1", b"2", b"3", b"4", b"5"]


@pytest.mark.spec("HR-058")
def test_the_last_id_that_was_used_only_grows() -> None:
    client = Client(HttprBench())
    client.report(last_pushed_id=5)
    client.report(last_pushed_id=3)
    client.report()
    assert client.row.last_sent_id == 5


@pytest.mark.spec("HR-017", "HR-059", "HR-079")
@pytest.mark.httpr("T11", "T12", "T13", "H12", "H13", "F2")
def test_forget_makes_the_channel_as_at_the_beginning_and_may_be_said_again() -> None:
    client = Client(HttprBench())
    client.begin()
    client.push(1, b"a")
    client.push(2, b"b")
    answer = client.report(session=SessionMark.END, last_pushed_id=2, forget=2)
    assert (pair(answer), answer.header.last_pulled_id, ends(answer)) == ((COMMIT, 0), 0, True)
    assert (client.row.last_received_id, client.row.last_sent_id) == (0, 0)
    client.session = ""
    again = client.report(last_pushed_id=2, forget=2, completed=7, outcome=COMMIT)
    assert (error(again), pair(again)) == (0, (COMMIT, 0))
    assert client.bench.bodies() == [b"a", b"b"]


@pytest.mark.httpr("T12")
@pytest.mark.spec("HR-017", "HR-059")
def test_a_client_that_begins_anew_after_a_repeated_forget_is_taken_at_once() -> None:
    client = Client(HttprBench())
    client.push(900, b"a")
    for _ in range(3):  # its answer gets lost twice
        client.report(last_pushed_id=900, forget=900)
        assert not client.row.has_sink_state
    assert pair(client.push(1, b"b")) == (COMMIT, 1)


@pytest.mark.spec("HR-059", "HR-082")
def test_a_forget_that_comes_late_does_not_forget_what_was_given_up_since() -> None:
    client = Client(HttprBench())
    client.push(2, b"a")
    client.report(last_pushed_id=2, forget=2)
    client.report(last_pushed_id=3)  # batch 3 was given up
    client.report(last_pushed_id=2, forget=2)
    assert error(client.push(3, b"late")) == 529


@pytest.mark.httpr("T13")
@pytest.mark.spec("HR-018")
def test_an_id_that_is_not_known_is_no_error() -> None:
    client = Client(HttprBench())
    assert pair(client.push(1, b"a", completed=7, outcome=COMMIT)) == (COMMIT, 1)
    assert error(client.report(completed=9, outcome=ROLLBACK)) == 0


@pytest.mark.spec("HR-017", "HR-059")
def test_another_id_than_the_last_is_not_forgotten() -> None:
    client = Client(HttprBench())
    client.push(4, b"a")
    for forget, pushed in ((3, 4), (5, 4), (0, 0), (4, 5)):
        answer = client.report(last_pushed_id=pushed, forget=forget)
        assert (error(answer), pair(answer)) == (0, (COMMIT, 4)), (forget, pushed)
    assert client.row.last_sent_id == 5


@pytest.mark.httpr("T44")
@pytest.mark.spec("HR-059")
def test_nothing_of_an_older_connection_is_taken_after_forget() -> None:
    client = Client(HttprBench())
    client.push(1, b"a")
    older = client.connection
    client.connect()
    client.report(last_pushed_id=1, forget=1)
    assert client.row.last_received_id == 0
    answer = client.push(1, b"a again", connection=older)
    assert (error(answer), pair(answer)) == (529, (None, None))
    assert client.bench.bodies() == [b"a"]


@pytest.mark.spec("HR-076", "HR-078")
@pytest.mark.httpr("T19")
def test_a_client_that_is_in_doubt_itself_ends_its_session_and_the_batch_stays() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"a")
    client.begin()
    assert client.pull().header.transaction_id == 1
    answer = client.report(completed=1, outcome=INDOUBT)
    assert (ends(answer), answer.header.last_pulled_id) == (True, 1)
    assert client.in_doubt == [1]
    client.begin()
    client.report(completed=1, outcome=COMMIT)
    assert client.in_doubt == []
    assert client.bench.bodies() == []


@pytest.mark.spec("HR-053", "HR-054", "HR-022")
@pytest.mark.httpr("T17", "F6")
def test_a_batch_that_was_lost_on_the_way_comes_again_under_another_id() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"a")
    client.begin()
    client.pull(0)
    client.bench.send("orders", b"b", b"c")
    assert bodies(client.pull(1)) == [b"b", b"c"]
    client.connect()
    assert pair(client.begin()) == (COMMIT, 0)
    answer = client.report(completed=1, outcome=COMMIT)
    assert answer.header.last_pulled_id == 2
    again = client.pull(1)
    assert (again.header.transaction_id, bodies(again)) == (3, [b"b", b"c"])
    answer = client.report(completed=3, outcome=COMMIT, session=SessionMark.END)
    assert (answer.header.last_pulled_id, ends(answer)) == (0, True)
    assert client.bench.bodies() == []


@pytest.mark.spec("HR-019", "HR-074", "HR-075")
@pytest.mark.httpr("T20", "F5")
def test_the_last_batch_is_forgotten_with_the_report_that_acknowledges_it() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"a")
    client.begin()
    client.pull(0)
    answer = client.report(completed=1, outcome=COMMIT)
    assert answer.header.last_pulled_id == 0
    assert client.row.source_forgotten
    assert client.report(completed=1, outcome=COMMIT).header.last_pulled_id == 0
    client.bench.send("orders", b"b")
    assert client.pull(0).header.transaction_id == 2, "ids grow for ever"
    assert client.report(completed=0, outcome=COMMIT).header.last_pulled_id == 2


@pytest.mark.spec("HR-050")
@pytest.mark.httpr("T43", "T18")
def test_a_crash_of_the_server_does_not_settle_what_is_in_doubt() -> None:
    client = Client(HttprBench())
    client.bench.send("orders", b"a", b"b")
    client.pull(0)
    client.bench.flush()
    client.bench.restart(crash=True)
    assert client.bench.bodies() == [], "they are held again before the next request"
    client.connect()
    assert client.report(completed=0, outcome=COMMIT).header.last_pulled_id == 1
    again = client.pull(0)
    assert (again.header.transaction_id, bodies(again)) == (2, [b"a", b"b"])
    client.bench.flush()
    client.bench.restart(crash=True)
    client.connect()
    client.report(completed=2, outcome=COMMIT)
    assert client.bench.bodies() == []
