"""Tests the record of a channel after a restore, in both agents, and peers that restart their numbering."""

from __future__ import annotations

from itertools import product
from uuid import UUID

import pytest

from reliquary.base.restoration import Restoration
from reliquary.protocols.httpr.codec.values import LARGEST_ID, Carried, Command, ResponseHeader
from reliquary.protocols.httpr.effects import SendRequest
from reliquary.protocols.httpr.facts import MemoryJudged
from reliquary.protocols.httpr.memory import HIGHEST_FLOOR, NEXT, PeerProgress, reach_of
from reliquary.protocols.httpr.settings import HttprSettings, Peer, Service
from reliquary.protocols.httpr.tables import Channel, Memory, Role
from reliquary.protocols.httpr.views import channels
from reliquary.queueing.rules.era import NOT_KNOWN
from tests.protocols.httpr.client_harness import COMMIT, Client, bodies, error, pair
from tests.protocols.httpr.far_server import AGENT, ORDERS, TO_US, ClientBench, Far
from tests.protocols.httpr.httpr_harness import HttprBench
from tests.queueing.manager_harness import NOON
from tests.queueing.state_checks import walk

DEAD = "system$;deadletter"
SOURCE = Service(name="orders", source="orders")


def restore(bench: HttprBench, number: int = 1) -> int:
    """Restore the store of a bench as it is: nothing was lost, but the manager does not know that.

    Returns when the era began.
    """
    began = bench.now
    bench.restoration = Restoration(UUID(int=number), bench.now)
    bench.restart()
    bench.restoration = None
    bench.advance(2)
    return began


def dead(bench: HttprBench) -> list[bytes]:
    kept = walk(bench.queue(DEAD))
    assert {position.reason for position in kept} <= {NOT_KNOWN}
    return [bench.state.messages.get(position).body for position in kept]


def reported(bench: HttprBench) -> list[str]:
    """Return the warnings to an administrator, without that of the restore itself."""
    left_out = ("restored", "cannot be delivered")
    return [each.what for each in bench.warnings if not any(word in each.what for word in left_out)]


# -- the table


def test_the_table_answers_every_case() -> None:
    assert set(NEXT) == set(product(Memory, PeerProgress))


def row(memory: Memory) -> Channel:
    return Channel(
        1, Role.CLIENT, "httpr://me", "a", "httpr://you", last_source_id=900, memory=memory, backup_id=4
    )


@pytest.mark.parametrize(
    ("memory", "completed", "expected"),
    [
        (Memory.RESTORED, None, PeerProgress.NONE),
        (Memory.RESTORED, 0, PeerProgress.NONE),
        (Memory.RESTORED, 4, PeerProgress.WITHIN),
        (Memory.RESTORED, 5, PeerProgress.BEYOND),
        (Memory.CURRENT, 5, PeerProgress.WITHIN),
        (Memory.CURRENT, 900, PeerProgress.WITHIN),
        (Memory.CURRENT, 901, PeerProgress.BEYOND),
        (Memory.OUTDATED, 900, PeerProgress.WITHIN),
    ],
)
def test_a_restored_channel_is_compared_with_its_backup(
    memory: Memory, completed: int | None, expected: PeerProgress
) -> None:
    assert reach_of(row(memory), completed) is expected


# -- our server gives


def fetched_from(*messages: bytes) -> tuple[HttprBench, Client]:
    """Return a client that has fetched these messages one by one, and acknowledged all but the last."""
    bench = HttprBench(settings=HttprSettings(services=(SOURCE,)))
    client = Client(bench)
    for number, body in enumerate(messages):
        bench.send("orders", body)
        assert bodies(client.pull(number)) == [body]
    return bench, client


@pytest.mark.spec("HR-102", "HR-103")
def test_the_ids_of_an_era_are_above_all_that_were_ever_used() -> None:
    bench, client = fetched_from(b"a", b"b")
    began = restore(bench)
    bench.send("orders", b"c")
    answer = client.pull(2)
    assert bodies(answer) == [b"c"]
    assert answer.header.transaction_id == began + 1
    bench.send("orders", b"d")
    assert client.pull(began + 1).header.transaction_id == began + 2
    assert (reported(bench), dead(bench)) == ([], [])


def test_a_restart_does_not_forget_that_the_peer_was_not_asked_yet() -> None:
    bench, client = fetched_from(b"a", b"b")
    bench.send("orders", b"waits")
    restore(bench)
    bench.restart()
    assert (client.row.memory, client.row.backup_id) == (Memory.RESTORED, 2)
    [view] = channels(bench.state, bench.httpr.state)
    assert view.memory == "restored"
    bench.send("orders", b"c")
    client.connect()
    assert bodies(client.pull(7)) == [b"c"]
    bench.restart()
    assert (client.row.memory, client.row.backup_id) == (Memory.OUTDATED, 0)
    assert dead(bench) == [b"b", b"waits"]
    assert reported(bench) == [
        "an older copy of the store is in use",
        "it is not known whether batches arrived before the restore",
        "it is not known whether messages arrived before the restore",
    ]


@pytest.mark.parametrize("acknowledged", [None, 0])
def test_a_client_that_acknowledges_nothing_does_not_show_what_it_has(acknowledged: int | None) -> None:
    bench, client = fetched_from(b"a")
    bench.send("orders", b"waits")
    restore(bench)
    bench.send("orders", b"b")
    client.connect()
    assert bodies(client.pull(acknowledged)) == [b"b"]
    assert dead(bench) == [b"a", b"waits"]


def test_a_push_without_an_outcome_says_nothing_of_what_was_fetched() -> None:
    bench, client = fetched_from(b"a", b"b")
    restore(bench)
    client.connect()
    client.push(1, b"x")
    assert client.row.memory is Memory.RESTORED
    client.report(completed=2, outcome=COMMIT, last_pushed_id=1)
    assert (client.row.memory, client.in_doubt) == (Memory.CURRENT, [])
    assert dead(bench) == []


def test_a_channel_that_is_opened_in_an_era_may_be_one_that_was_lost() -> None:
    bench = HttprBench(settings=HttprSettings(services=(SOURCE,)))
    bench.send("orders", b"waits")
    restore(bench)
    bench.send("orders", b"b")
    client = Client(bench)
    answer = client.pull(0)
    assert (bodies(answer), answer.header.transaction_id) == ([b"b"], NOON + 1)
    assert dead(bench) == [b"waits"]


@pytest.mark.spec("HR-018")
@pytest.mark.parametrize("marked", [True, False])
def test_an_id_beyond_all_ids_leaves_enough_of_them(marked: bool) -> None:
    bench, client = fetched_from(b"a")
    if marked:
        restore(bench)
        client.connect()
    for _ in range(3):
        bench.send("orders", b"b")
        assert error(client.pull(LARGEST_ID)) == 0
    assert HIGHEST_FLOOR < client.row.last_source_id < HIGHEST_FLOOR + 10
    assert reported(bench).count("an older copy of the store is in use") == 1


def test_a_batch_of_this_process_is_returned_when_the_peer_knows_more_than_we_do() -> None:
    bench, client = fetched_from(b"a")
    assert bodies(client.pull(9)) == [b"a"]
    assert client.in_doubt == [10]
    assert reported(bench) == ["an older copy of the store is in use"]


def test_after_a_second_restore_the_messages_of_both_are_old() -> None:
    bench, client = fetched_from(b"a", b"b")
    bench.send("orders", b"older")
    restore(bench)
    restore(bench, 2)  # no request was made in between
    assert client.row.backup_id == 2
    client.connect()
    client.report(completed=3, outcome=COMMIT, last_pushed_id=0)
    assert client.row.memory is Memory.OUTDATED
    restore(bench, 3)
    client.connect()
    client.report(completed=3, outcome=COMMIT, last_pushed_id=0)
    assert client.row.memory is Memory.OUTDATED
    client.pull(3)
    assert dead(bench) == [b"b", b"older"]


@pytest.mark.httpr("T13")
@pytest.mark.spec("HR-018")
def test_a_peer_that_names_an_id_of_no_batch_gets_the_answer_that_there_was_none() -> None:
    client = Client(HttprBench())
    answer = client.report(completed=7, outcome=COMMIT, last_pushed_id=0)
    assert (error(answer), answer.header.last_pulled_id, client.row.last_source_id) == (0, 0, 7)


# -- our client gives


@pytest.mark.spec("HR-082")
def test_our_client_reports_its_new_ids_before_the_first_batch_of_an_era() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.talk(far)
    restore(bench)
    bench.send(ORDERS, b"b")
    sent = bench.talk(far)
    assert [request.header.command for request in sent] == [
        Command.GET_RESPONDER_INFO,
        Command.REPORT,
        Command.PUSH,
    ]
    assert sent[1].header.last_pushed_id == NOON
    assert sent[2].header.transaction_id == NOON + 1
    assert far.stored == [b"a", b"b"]


def test_our_client_asks_also_on_a_channel_that_it_opens_in_an_era() -> None:
    bench, far = ClientBench(), Far(received=(COMMIT, 3), stored=[b"lost"])
    began = restore(bench)  # the channel was opened after the backup, and its row is lost
    bench.send(ORDERS, b"a")
    sent = bench.talk(far)
    assert [request.header.command for request in sent][1:] == [Command.REPORT, Command.PUSH]
    assert sent[-1].header.transaction_id == began + 1
    assert far.stored == [b"lost", b"a"]
    assert reported(bench) == ["an older copy of the store is in use"]


def test_a_channel_without_work_is_not_opened_only_because_of_a_restore() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.talk(far)
    before = len(bench.requests)
    restore(bench)
    assert len(bench.requests) == before


@pytest.mark.spec("HR-020")
def test_our_client_decides_by_the_answer_to_report_alone() -> None:
    bench, far = ClientBench(), Far()
    bench.send(ORDERS, b"a")
    bench.talk(far)
    bench.send(ORDERS, b"in doubt")
    bench.fail(bench.next_request())
    restore(bench)
    far.received = (COMMIT, 9)
    bench.answer(far)  # GET-RESPONDER-INFO
    assert not [fact for fact in bench.facts if isinstance(fact, MemoryJudged)]
    bench.talk(far)
    assert dead(bench) == [b"in doubt"]
    assert far.stored == [b"a"]


def test_a_channel_that_never_sent_has_nothing_to_be_forgotten_after_a_restore() -> None:
    bench, far = fetching()
    restore(bench)
    bench.talk(far, 5)
    (channel,) = bench.httpr.state.channels.values()
    assert channel.last_source_id
    assert not channel.has_source_state


def test_a_peer_without_sessions_is_asked_after_each_start() -> None:
    settings = HttprSettings(peers=(Peer(responder=AGENT, sessions=False),))
    bench, far = ClientBench(settings=settings), Far()
    bench.send(ORDERS, b"a")
    bench.talk(far)
    far.received = (COMMIT, 2)  # of a manager whose store was put away since
    before = len(bench.requests)
    bench.restart()
    assert len(bench.requests) == before  # but only when there is something to send
    bench.send(ORDERS, b"b")
    assert [request.header.command for request in bench.talk(far)] == [Command.REPORT, Command.PUSH]
    assert far.stored == [b"a", b"b"]


# -- our server takes


@pytest.mark.spec("HR-079")
@pytest.mark.parametrize("last", [4, 5])
def test_a_restored_sink_says_nothing_until_its_client_shows_that_it_counts_on(last: int) -> None:
    bench = HttprBench()
    client = Client(bench)
    client.push(4, b"a")
    client.report(last_pushed_id=last)
    restore(bench)
    client.connect()
    assert pair(client.begin()) == (COMMIT, 0)
    assert pair(client.report()) == (COMMIT, 0)
    assert pair(client.report(last_pushed_id=last)) == (COMMIT, 4)
    assert pair(client.begin()) == (COMMIT, 4)


@pytest.mark.spec("HR-055", "HR-079")
@pytest.mark.parametrize("asks", [Command.REPORT, Command.GET_RESPONDER_INFO])
def test_a_client_that_counts_anew_since_the_backup_reads_no_commit_of_ids_that_are_not_its_own(
    asks: Command,
) -> None:
    bench = HttprBench()
    client = Client(bench)
    client.push(4, b"a")
    restore(bench)  # the client let the server forget 4, and has restarted its numbering
    client.connect()
    answer = client.push(1, b"b")
    assert (error(answer), pair(answer)) == (529, (None, None))
    if asks is Command.GET_RESPONDER_INFO:
        assert pair(client.begin()) == (COMMIT, 0)
    assert pair(client.report(last_pushed_id=1)) == (COMMIT, 0)
    assert pair(client.push(2, b"b")) == (COMMIT, 2)
    assert bench.bodies() == [b"a", b"b"]


def test_a_new_batch_shows_that_the_client_counts_on() -> None:
    bench = HttprBench()
    client = Client(bench)
    client.push(4, b"a")
    restore(bench)
    client.connect()
    client.push(5, b"b")
    assert pair(client.begin()) == (COMMIT, 5)


# -- our client takes


def fetching() -> tuple[ClientBench, Far]:
    settings = HttprSettings(peers=(Peer(responder=AGENT, pull=True),))
    bench, far = ClientBench(settings=settings), Far()
    far.offer(b"a")
    bench.talk(far, 4)
    assert bench.bodies() == [b"a"]
    return bench, far


def reports(requests: list[SendRequest]) -> list[tuple[int | None, int | None]]:
    return [
        (request.header.last_pushed_id, request.header.completed)
        for request in requests
        if request.header.command is Command.REPORT
    ]


@pytest.mark.spec("HR-074")
@pytest.mark.parametrize("known", [True, False])
def test_a_restored_client_asks_before_it_acknowledges(known: bool) -> None:
    bench, far = fetching()
    far.last_source = 7
    if known:
        bench.restart()
        bench.talk(far, 3)
    restore(bench)
    assert reports(bench.talk(far, 5)) == [(NOON, None), (NOON, 1)]


@pytest.mark.parametrize("last", [0, 2])
def test_a_server_that_counts_anew_since_the_backup_gets_no_commit_of_ids_that_are_not_its_own(
    last: int,
) -> None:
    bench, far = fetching()
    (channel,) = bench.httpr.state.channels.values()
    assert channel.last_received_id == 1
    far.waiting, far.in_doubt = [], {}
    far.last_source = 5
    far.offer(b"b")
    bench.advance(30)
    bench.talk(far, 3)
    began = restore(bench)
    far.last_source, far.in_doubt = last, ({last: [b"new"]} if last else {})
    sent = bench.talk(far, 6)
    assert reports(sent) == [(began, None), (began, 0)]
    assert (b"new" in bench.bodies()) is bool(last)


def test_a_server_that_does_not_say_its_last_id_is_acknowledged_as_before() -> None:
    bench, far = fetching()
    restore(bench)
    bench.answer(far)
    header = ResponseHeader(responder=AGENT, outcome=COMMIT, completed=0)
    bench.respond(bench.next_request(), header)
    assert bench.unanswered[0].header.completed == 1


def test_what_a_restored_client_gets_again_is_put_aside_by_its_time() -> None:
    bench, far = fetching()
    restore(bench)
    far.last_source = 3
    bench.answer(far)
    for _ in range(2):
        bench.answer(far)
    batch = [
        Carried(TO_US + "put-time:14 Nov 2023 22:13:20\r\n", b"again"),
        Carried(TO_US, b"without a time"),
    ]
    header = ResponseHeader(outcome=COMMIT, completed=0, transaction_id=4)
    bench.respond(bench.next_request(), header, *batch)
    assert bench.bodies() == [b"a", b"without a time"]
    assert dead(bench) == [b"again"]
