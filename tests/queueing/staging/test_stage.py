"""Tests of parts of batches that are being written: accepted, refused, and invisible to readers."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model import events
from reliquary.queueing.model.message import AuthenticationLevel, Message, StoredBody
from reliquary.queueing.model.staging import batch_identifier
from reliquary.queueing.model.state import Sizes
from reliquary.queueing.staging.events import BeginStage, CompleteStage, StageMessages
from tests.queueing.exchange import carriers
from tests.queueing.manager_harness import NOON, Bench, message
from tests.queueing.staging.inspection import staged
from tests.queueing.staging.writing import begin, publish, stage, write
from tests.queueing.state_checks import check, durable

AWAY = "DIRECT=OS:elsewhere\\private$\\q"


def test_what_is_staged_is_on_disk_and_no_reader_sees_it() -> None:
    bench = Bench()
    number = begin(bench)
    answer = stage(bench, number, b"a", b"bc")
    assert (answer.status, answer.stage, answer.messages) == (HResult.OK, number, 2)
    assert answer.size == bench.state.staging.bytes > 0
    assert bench.bodies() == []
    assert bench.queue().total_bytes == bench.state.totals.bytes == 0
    assert len(staged(bench.state)) == 2
    done = bench.ask(CompleteStage(0, number))
    assert (done.status, done.messages, done.size) == (HResult.OK, 2, answer.size)
    assert bench.ask(CompleteStage(0, number)) == done
    check(bench.state)


def test_the_answer_to_messages_waits_for_no_disk_and_that_to_a_complete_part_does() -> None:
    bench = Bench()
    number = begin(bench)
    assert not all(fact.volatile for fact in bench.turns[-1].facts)
    stage(bench, number, b"a")
    assert all(fact.volatile for fact in bench.turns[-1].facts)
    bench.ask(CompleteStage(0, number))
    assert not all(fact.volatile for fact in bench.turns[-1].facts)


def test_a_repeated_attempt_begins_anew_and_another_attempt_stands_beside_it() -> None:
    bench = Bench()
    first = begin(bench, attempt="first")
    stage(bench, first, b"lost")
    other = write(bench, b"other", attempt="second")
    again = begin(bench, attempt="first")
    assert again not in (first, other)
    assert stage(bench, first, b"x").status is HResult.STAGE_GONE
    assert stage(bench, again, b"kept").messages == 1
    assert len(staged(bench.state)) == 2
    check(bench.state)


def test_a_part_takes_nothing_after_it_is_complete_and_nothing_when_it_is_not_there() -> None:
    bench = Bench()
    number = write(bench, b"a")
    full = stage(bench, number, b"b")
    assert full.status is HResult.INVALID_PARAMETER
    assert full.why == f"stage {number} is complete and takes nothing more"
    for answer in (stage(bench, 4711, b"a"), bench.ask(CompleteStage(0, 4711))):
        assert answer.status is HResult.STAGE_GONE
        assert answer.why.startswith("stage 4711 is gone")
        assert answer.stage == 4711
    assert bench.state.staging.stages[number].messages == 1


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (BeginStage(0, "", 0, 0, "a"), "a query has a name of 1 to 200 printable characters"),
        (BeginStage(0, "q" * 201, 0, 0, "a"), "a query has a name of 1 to 200 printable characters"),
        (BeginStage(0, "q\n", 0, 0, "a"), "a query has a name of 1 to 200 printable characters"),
        (BeginStage(0, "q", 0, 0, ""), "an attempt has a name of 1 to 200 printable characters"),
        (BeginStage(0, "q", -1, 0, "a"), f"a batch has a number from 0 to {2**63 - 1}, not -1"),
        (BeginStage(0, "q", 0, 2**63, "a"), f"a part has a number from 0 to {2**63 - 1}, not {2**63}"),
        (StageMessages(0, 1, "orders", ()), "one request stages 1 to 10000 messages, not 0"),
        (
            StageMessages(0, 1, "orders", (message(),) * 10_001),
            "one request stages 1 to 10000 messages, not 10001",
        ),
    ],
)
def test_a_request_outside_its_ranges_is_refused_with_the_limit(request_: Any, why: str) -> None:
    bench = Bench()
    before = durable(bench.state)
    answer = bench.ask(request_)
    assert (answer.status, answer.why) == (HResult.INVALID_PARAMETER, why)
    assert durable(bench.state) == before


BAD = [
    pytest.param(message(priority=8), "a priority is 0 to 7, not 8", id="priority"),
    pytest.param(
        message(label="x" * 250), "a label has at most 249 characters, this one has 250", id="label"
    ),
    pytest.param(
        message(destination_queue="DIRECT=OS:a\\b,DIRECT=OS:c\\d"),
        "names 2 queues where one is wanted",
        id="destination",
    ),
    pytest.param(message(destination_queues=("DIRECT=nonsense",)), "nonsense", id="destinations"),
    pytest.param(
        message(authentication=AuthenticationLevel.XML_SIG), "this manager has no signing key", id="signature"
    ),
    pytest.param(
        message(stored_body=StoredBody(1, 1, 1)),
        "a message whose body is stored in pieces is not part of a batch",
        id="pieces",
    ),
    pytest.param(
        message(sent_time=1, time_to_reach_queue=10),
        "its time to reach the queue, 10 seconds from its SentTime, ran out",
        id="late",
    ),
]


@pytest.mark.parametrize(("bad", "why"), BAD)
def test_a_message_that_a_send_would_refuse_is_named_and_none_of_its_request_is_taken(
    bad: Message, why: str
) -> None:
    bench = Bench()
    number = begin(bench)
    stage(bench, number, b"kept")
    before = durable(bench.state)
    answer = bench.ask(StageMessages(0, number, "orders", (message(b"a"), message(b"b"), bad)))
    assert answer.status is HResult.INVALID_PARAMETER
    assert (answer.stage, answer.bad) == (number, 2)
    assert why in answer.why
    assert durable(bench.state) == before


def test_what_srmp_cannot_carry_is_named_too() -> None:
    bench = Bench(carriers=carriers())
    number = begin(bench)
    where = "DIRECT=http://elsewhere/msmq/private$/q"
    answer = bench.ask(StageMessages(0, number, where, (message(b"a"), message(b"b", label="\x01"))))
    assert (answer.status, answer.bad) == (HResult.INVALID_PARAMETER, 1)
    assert "a label cannot contain" in answer.why
    assert not bench.state.names.outgoing
    answer = stage(bench, number, b"a", queue="MULTICAST=234.1.1.1:8001")
    assert (answer.status, answer.bad) == (HResult.INVALID_PARAMETER, 0)
    assert "cannot be in a transaction" in answer.why


def test_a_signed_message_goes_only_where_it_stays_signed() -> None:
    bench = Bench(signs=True, carriers=carriers())
    number = begin(bench)
    signed: dict[str, Any] = {"authentication": AuthenticationLevel.XML_SIG}
    for queue in ("orders", AWAY):
        answer = stage(bench, number, b"a", queue=queue, **signed)
        assert answer.bad == 0
        assert (
            answer.why == f"only what leaves by HTTP or multicast is signed, and {queue} is reached otherwise"
        )
    by_http = "DIRECT=http://elsewhere/msmq/private$/q"
    for _ in range(2):  # the second time its queue is there
        assert stage(bench, number, b"a", queue=by_http, **signed).status is HResult.OK


@pytest.mark.parametrize(
    ("queue", "status", "why"),
    [
        ("nowhere", HResult.QUEUE_NOT_FOUND, "there is no queue nowhere"),
        ("orders;journal", HResult.UNSUPPORTED_FORMATNAME_OPERATION, "orders;journal: this kind of name"),
        (
            "DIRECT=OS:.\\private$\\orders,DIRECT=OS:.\\private$\\other",
            HResult.INVALID_PARAMETER,
            "a part of a batch goes to one queue, and DIRECT=",
        ),
        ("DIRECT=nonsense", HResult.ILLEGAL_FORMATNAME, "nonsense"),
        (
            "DL=00000000-0000-0000-0000-000000000007",
            HResult.ILLEGAL_FORMATNAME,
            "is no name that is known here",
        ),
    ],
)
def test_a_name_that_is_not_of_one_queue_is_refused(queue: str, status: HResult, why: str) -> None:
    bench = Bench("orders", "other")
    number = begin(bench)
    answer = stage(bench, number, b"a", queue=queue)
    assert (answer.status, answer.bad, answer.bad_queue) == (status, -1, True)
    assert why in answer.why
    assert not bench.state.staging.stages[number].messages


@pytest.mark.parametrize("queue", ["orders", ".\\private$\\orders", "DIRECT=OS:.\\private$\\orders"])
def test_a_local_queue_may_be_named_in_any_way(queue: str) -> None:
    bench = Bench()
    number = write(bench, b"a", queue=queue)
    assert publish(bench, number).messages == 1
    assert bench.bodies() == [b"a"]


def test_a_destination_elsewhere_makes_its_outgoing_queue_which_stays_while_a_part_needs_it() -> None:
    bench = Bench()
    number = write(bench, b"a", queue=AWAY)
    [queue] = bench.state.names.outgoing.values()
    bench.advance(3 * 3600)
    assert queue.number in bench.state.queues
    assert publish(bench, number).messages == 1
    assert len(queue.order) == 1


def test_a_batch_that_is_too_large_is_refused_while_it_is_written() -> None:
    bench = Bench(sizes=Sizes(batch=5))
    write(bench, b"1", b"2", b"3", part=0, attempt="slow")
    write(bench, b"1", b"2", b"3", part=0)
    number = begin(bench, part=1)
    assert stage(bench, number, b"4", b"5").status is HResult.OK
    refused = stage(bench, number, b"6")
    assert (refused.status, refused.stage) == (HResult.BATCH_TOO_LARGE, number)
    assert refused.why == "a batch has at most 5 messages, this one would have 6: make it smaller"
    assert stage(bench, begin(bench, batch=1), b"another batch").status is HResult.OK


def test_the_number_of_parts_is_limited() -> None:
    bench = Bench(sizes=Sizes(stages=2))
    begin(bench, part=0)
    begin(bench, part=1)
    refused = bench.ask(BeginStage(0, "query", 0, 2, "a"))
    assert refused.status is HResult.INSUFFICIENT_RESOURCES
    assert refused.why == "2 parts of batches wait to be published, and there can be no more"


def test_a_queue_or_a_manager_without_room_says_so_at_once() -> None:
    bench = Bench(quota=3)
    bench.ask(events.ChangeQueue(0, "orders", {"quota": 1}))
    bench.create("roomy")
    number = begin(bench)
    full = stage(bench, number, b"x" * 1000)
    assert full.status is HResult.INSUFFICIENT_RESOURCES
    assert full.why == "the queue's quota is 1 kilobytes, 0 bytes are used"
    assert stage(bench, number, b"x" * 1000, queue="roomy").status is HResult.OK
    assert stage(bench, number, b"x" * 1000, queue="roomy").status is HResult.OK
    full = stage(bench, number, b"x" * 1000, queue="roomy")  # what is staged lies on the disk too
    assert full.status is HResult.INSUFFICIENT_RESOURCES
    assert full.why.startswith("the manager's quota is 3 kilobytes")
    bench.handle(events.FlowControl(throttled=True))
    assert stage(bench, number, b"x", queue="roomy").status is HResult.INSUFFICIENT_RESOURCES


def test_messages_of_a_batch_have_one_transaction_and_are_recoverable() -> None:
    bench = Bench()
    one = write(bench, b"a", part=0)
    two = write(bench, b"b", part=1)
    other = write(bench, b"c", batch=1)
    publish(bench, one, two)
    publish(bench, other, batch=1)
    shown = [each.message for each in bench.ask(events.BrowseMessages(0, "orders", limit=10)).messages]
    first, second, third = (each.transaction for each in shown)
    assert first == second == batch_identifier("query", 0) != third
    assert not any(each.is_express for each in shown)
    assert all(each.sent_time == NOON // 1_000_000 for each in shown)
    assert len({each.identifier for each in shown}) == 3
    assert {each.identifier.lineage for each in shown} == {bench.state.identity().identifier}


def test_chunks_are_small_enough_to_be_dropped_in_one_turn() -> None:
    bench = Bench(sizes=Sizes(at_once=3))
    number = write(bench, *[b"%d" % each for each in range(8)])
    assert bench.state.staging.stages[number].chunks == 3
    publish(bench, number)
    assert bench.bodies() == [b"%d" % each for each in range(8)]
    check(bench.state)
