"""A message goes: what is posted, and what its answer does to it."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.time import seconds
from reliquary.protocols.srmp.codec.decode import decode_apdu
from reliquary.protocols.srmp.effects import Post
from reliquary.protocols.srmp.events import Addressed
from reliquary.protocols.srmp.redirection import Redirection
from reliquary.protocols.srmp.sender.sessions import AHEAD
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.queueing.model.events import DeleteQueue, PurgeQueue
from reliquary.queueing.model.message import Acknowledgement, Delivery, Message, MessageClass, ObjectId
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingState
from reliquary.queueing.model.travel.transfer import AddressesKnown, MessageArrived
from reliquary.queueing.travel.failures import Failure
from tests.protocols.srmp.sending import LARGEST, SHOP, Sender
from tests.protocols.srmp.srmp_harness import ADDRESSED, HOST

ADMIN = "DIRECT=HTTP://bench.example/msmq/private$/admin"
GROUP = "MULTICAST=234.1.1.1:8001"
DEAD, DEAD_STREAM, JOURNAL = "system$;deadletter", "system$;deadxact", "system$;journal"


# -- one message


@pytest.mark.srmp("T-11")
@pytest.mark.spec("SR-255", "SR-290", "SR-291", "SR-309")
def test_a_message_is_posted_once_and_removed_when_it_was_accepted() -> None:
    bench = Sender()
    bench.plain(b"hello", delivery=Delivery.EXPRESS)
    [post] = bench.posts
    assert (post.server, post.authority, post.target) == (
        "http://shop.example",
        "shop.example",
        "/msmq/private$/orders",
    )
    assert bench.arrived(post).body == b"hello"
    assert bench.arrived(post).envelope.to.casefold() == "http://shop.example/msmq/private$/orders"
    assert bench.waiting() == 1
    bench.answer_all()
    bench.advance(3600)
    assert (bench.waiting(), bench.posts) == (0, [])
    bench.check()


@pytest.mark.srmp("T-12")
@pytest.mark.parametrize("status", [200, 201, 204])
@pytest.mark.spec("SR-240", "SR-245", "SR-291")
def test_what_was_taken_is_journaled_when_it_asked_for_that(status: int) -> None:
    bench = Sender()
    bench.plain(b"kept", positive_journaling=True)
    assert bench.bodies(JOURNAL) == []
    bench.answer_all(status)
    assert (bench.bodies(JOURNAL), bench.bodies(DEAD), bench.waiting()) == ([b"kept"], [], 0)


@pytest.mark.srmp("T-13", "T-14")
@pytest.mark.spec("SR-241", "SR-292")
@pytest.mark.parametrize("asks", [True, False])
def test_what_was_refused_is_a_dead_letter_and_is_never_tried_again(asks: bool) -> None:
    bench = Sender()
    bench.plain(b"bad", negative_journaling=asks, positive_journaling=True)
    bench.answer_all(400)
    bench.advance(100_000)
    assert bench.bodies(DEAD) == [b"bad"]
    assert (bench.bodies(JOURNAL), bench.waiting(), bench.posts) == ([], 0, [])
    bench.check()


def test_a_refusal_is_reported_to_the_sending_application() -> None:
    bench = Sender("orders", "admin")
    bench.plain(b"bad", acknowledgements=(Acknowledgement.NEG_ARRIVAL,), administration_queue=ADMIN)
    bench.answer_all(400)
    [news] = bench.receive("admin").messages
    assert news.message.message_class == MessageClass.NACK_BAD_DEST_QUEUE


@pytest.mark.srmp("T-15")
@pytest.mark.spec("SR-049", "SR-149", "SR-150", "SR-159", "SR-246", "SR-293")
def test_a_server_error_is_tried_again_unchanged_after_the_retransmission_timeout() -> None:
    bench = Sender()
    bench.plain(b"again")
    first = bench.posts[0]
    bench.forget()
    bench.answer(first, 503)
    assert bench.link().state is OutgoingState.INACTIVE
    assert [(each.session, each.epoch) for each in bench.ended] == [(first.session, first.epoch)]
    bench.advance(19.9)
    assert bench.posts == []
    bench.advance(0.1)
    [second] = bench.posts
    assert second.body == first.body
    assert second.epoch > first.epoch
    bench.answer_all()
    assert bench.waiting() == 0


@pytest.mark.spec("SR-293")
@pytest.mark.parametrize("status", [100, 301, 401, 404, 408, 413, 429, 500, 599])
def test_what_the_specification_does_not_name_is_tried_again(status: int) -> None:
    bench = Sender()
    bench.plain(b"again")
    bench.answer_all(status)
    bench.advance(20)
    assert len(bench.posts) == 1
    assert bench.link().history[-3].status is ConnectionStatus.CONNECTION_REFUSED


@pytest.mark.srmp("T-16", "F-70")
@pytest.mark.spec("SR-293")
@pytest.mark.parametrize(
    ("failure", "status"),
    [
        (Failure.TIMED_OUT, ConnectionStatus.CONNECTION_NOT_READY),
        (Failure.NO_CONNECTION, ConnectionStatus.SOCKET_CONNECT_FAILURE),
        (Failure.LOST, ConnectionStatus.SOCKET_SEND_FAILURE),
    ],
)
def test_without_an_answer_the_connection_is_closed_and_all_goes_again(
    failure: Failure, status: ConnectionStatus
) -> None:
    bench = Sender()
    bench.plain(b"a", b"b")
    first = list(bench.posts)
    bench.forget()
    bench.fail(first[0], failure)
    assert (bench.link().state, len(bench.ended)) == (OutgoingState.INACTIVE, 1)
    assert bench.link().history[-1].status is status
    bench.advance(20)
    assert [post.body for post in bench.posts] == [post.body for post in first]


@pytest.mark.srmp("T-17")
@pytest.mark.spec("SR-256", "SR-257", "SR-258")
def test_an_expired_message_is_never_sent_again() -> None:
    bench = Sender("orders", "admin")
    bench.plain(
        b"late",
        time_to_reach_queue=5,
        negative_journaling=True,
        acknowledgements=(Acknowledgement.NEG_ARRIVAL,),
        administration_queue=ADMIN,
    )
    bench.answer_all(503)
    bench.advance(60)
    assert bench.posts == []
    assert (bench.bodies(DEAD), bench.waiting()) == ([b"late"], 0)
    [news] = bench.receive("admin").messages
    assert news.message.message_class == MessageClass.NACK_REACH_QUEUE_TIMEOUT


@pytest.mark.srmp("T-18")
@pytest.mark.spec("SR-256")
@pytest.mark.parametrize(("after", "sent"), [(20, 1), (21, 0)])
def test_at_its_last_moment_a_message_is_still_sent(after: int, sent: int) -> None:
    """The queue rests until then."""
    bench = Sender(settings=SrmpSettings(retransmission=seconds(after)))
    bench.plain(b"just", time_to_reach_queue=20)
    bench.answer_all(503)
    bench.advance(after)
    assert len(bench.posts) == sent


@pytest.mark.srmp("T-25")
@pytest.mark.spec("SR-119", "SR-120")
def test_a_durable_message_that_was_not_sent_yet_goes_after_a_restart_as_it_would_have() -> None:
    bench = Sender(addressed=False)
    bench.plain(b"durable")
    bench.plain(b"express", delivery=Delivery.EXPRESS)
    bench.flush()
    bench.addressed = True
    bench.advance(7)
    bench.restart(crash=True)
    [post] = bench.posts
    arrived = bench.arrived(post)
    assert arrived.body == b"durable"
    assert arrived.envelope.sent_at == 1_700_000_000


@pytest.mark.spec("SR-054")
@pytest.mark.parametrize("delivery", Delivery)
def test_a_durable_message_leaves_only_after_the_disk_has_it(delivery: Delivery) -> None:
    bench = Sender()
    bench.plain(b"first")  # and the connection is there
    bench.core.close()
    bench.core.take_at_once()
    bench.plain(b"a", delivery=delivery)
    batch = bench.core.close()
    waits = [effect for effect in batch.after_sync if isinstance(effect, Post)]
    leaves = [effect for effect in bench.core.take_at_once() if isinstance(effect, Post)]
    assert (len(waits), len(leaves)) == ((1, 0) if delivery is Delivery.RECOVERABLE else (0, 1))


@pytest.mark.spec("SR-054", "SR-263")
def test_a_number_is_on_disk_before_its_message_leaves() -> None:
    bench = Sender()
    bench.core.close()
    bench.core.take_at_once()
    bench.stream(b"a")
    batch = bench.core.close()
    assert batch.applied
    assert [type(effect) for effect in batch.after_sync if isinstance(effect, Post)] == [Post]
    assert not [effect for effect in bench.core.take_at_once() if isinstance(effect, Post)]


@pytest.mark.spec("SR-122", "SR-156", "SR-260")
def test_no_two_messages_have_one_identifier_in_this_process_or_the_next() -> None:
    bench = Sender()
    bench.plain(b"a", b"b")
    bench.stream(b"c")
    identifiers = [bench.arrived(post).envelope.identifier for post in bench.posts]
    bench.answer_all()
    bench.restart()
    bench.forget()
    bench.plain(b"d")
    identifiers.append(bench.arrived(bench.posts[0]).envelope.identifier)
    numbers = [identifier.uniquifier for identifier in identifiers]
    assert numbers == sorted(set(numbers))
    assert len({identifier.lineage for identifier in identifiers}) == 1


@pytest.mark.srmp("T-77")
def test_an_answer_after_the_time_out_means_nothing_and_the_message_goes_again_under_its_identifier() -> None:
    bench = Sender()
    bench.plain(b"again")
    first = bench.posts[0]
    bench.fail(first)
    bench.answer(first, 200)
    bench.answer(first, 400)
    assert bench.waiting() == 1
    bench.advance(20)
    second = bench.posts[1]
    bench.answer(first, 200)
    assert bench.waiting() == 1
    assert bench.arrived(second).envelope.identifier == bench.arrived(first).envelope.identifier
    bench.answer(second, 200)
    assert bench.waiting() == 0


@pytest.mark.srmp("T-78")
def test_the_highest_priority_goes_first() -> None:
    bench = Sender(addressed=False)
    bench.plain(b"low", priority=0)
    bench.plain(b"high", priority=7)
    bench.handle(ADDRESSED)
    assert bench.sent_bodies() == [b"high", b"low"]


def test_the_network_has_the_next_ones_before_the_first_are_answered_and_no_more() -> None:
    bench = Sender(settings=SrmpSettings(in_flight=3))
    bodies = [b"%d" % n for n in range(9)]
    bench.plain(*bodies)
    assert bench.sent_bodies() == bodies[: AHEAD * 3]
    bench.answer(bench.posts[0])
    assert bench.sent_bodies() == bodies[: AHEAD * 3 + 1]
    bench.answer_all()
    assert bench.waiting() == 0


# -- whose messages, and when


@pytest.mark.srmp("F-72")
@pytest.mark.spec("SR-307")
def test_destinations_that_are_not_reached_by_srmp_are_left_to_others() -> None:
    bench = Sender()
    bench.plain(b"a", to=r"DIRECT=OS:other\private$\orders")
    assert (bench.posts, bench.srmp.state.sender.sessions) == ([], {})
    assert bench.waiting(r"DIRECT=OS:other\private$\orders") == 1


def test_nothing_goes_before_we_are_addressed_and_all_of_it_then() -> None:
    bench = Sender(addressed=False)
    bench.stream(b"a")
    bench.plain(b"b", to="DIRECT=HTTP://other.example/msmq/q")
    assert bench.posts == []
    bench.handle(Addressed("here.example:81", frozenset({"here.example:81"})))
    assert bench.sent_bodies() == [b"a", b"b"]
    assert bench.place(bench.posts[0]).receipts_to == ("http://here.example:81/MSMQ/PRIVATE$/order_queue$")


def test_the_manager_gets_the_authorities_under_which_it_is_reached() -> None:
    bench = Sender()
    assert AddressesKnown(("HTTP", "HTTPS"), ADDRESSED.authorities) in bench.signals
    assert (
        bench.state.travel.own_urls["HTTP"].authorities
        == ADDRESSED.authorities
        == bench.srmp.state.address.authorities
    )
    assert bench.srmp.state.address.receipts_host == HOST


# -- how it is written


@pytest.mark.srmp("T-62")
@pytest.mark.spec("SR-311", "SR-312")
def test_a_redirected_message_says_where_it_really_goes() -> None:
    away = Redirection("http://shop.example/*", "http://gate.example:8080/any")
    bench = Sender(settings=SrmpSettings(outbound_redirections=(away,)))
    bench.plain(b"a")
    [post] = bench.posts
    assert post.server == "http://gate.example:8080"
    assert (post.authority, post.target) == ("shop.example", "/msmq/private$/orders")
    assert "shop.example" in bench.arrived(post).envelope.to.casefold()
    assert bench.link().next_hops == ("gate.example:8080",)


def test_windows_framing_and_the_capital_stream_are_a_choice() -> None:
    plain, windows = Sender(), Sender(settings=SrmpSettings(windows_framing=True, capital_stream=True))
    for bench in (plain, windows):
        bench.stream(b"body")
    ours, theirs = plain.posts[0], windows.posts[0]
    assert b"\r\n--MSMQ - SOAP" in ours.body
    assert b"\r\n--MSMQ - SOAP" not in theirs.body
    assert b"<stream " in ours.body
    assert b"<Stream " in theirs.body
    assert windows.arrived(theirs).envelope == plain.arrived(ours).envelope


def test_a_message_is_written_in_one_way_every_time() -> None:
    bodies = []
    for _ in range(2):
        bench = Sender()
        bench.plain(b"a", extension=b"more")
        bodies.append((bench.posts[0].content_type, bench.posts[0].body))
    assert bodies[0] == bodies[1]


def test_a_message_without_a_body_goes_as_plain_xml() -> None:
    bench = Sender()
    bench.plain(b"")
    assert bench.posts[0].content_type == "text/xml"


@pytest.mark.spec("SR-186")
def test_a_message_that_came_for_another_host_goes_on_as_it_came_and_is_done_when_taken() -> None:
    """The stream, receipts and identifier of the original sender are unchanged."""
    source = Sender()
    source.stream(b"foreign")
    [original] = source.posts
    arrived = source.arrived(original)
    bench = Sender()
    passed_on = Message.of(
        body=arrived.body,
        soap_envelope=arrived.text,
        identifier=ObjectId(UUID(int=5), 9),
        source_machine=arrived.envelope.stream.sender,  # type: ignore[union-attr]
        delivery=Delivery.RECOVERABLE,
        transaction=UUID(int=3),
        sent_time=1_700_000_000,
    )
    bench.tell(MessageArrived("srmp", (0, 0), SHOP, passed_on))
    [post] = bench.posts
    assert bench.arrived(post) == arrived
    assert bench.srmp.state.sent == {}
    bench.answer_all()
    assert bench.waiting() == 0


def test_what_cannot_be_written_is_given_up_and_stops_nothing_else() -> None:
    bench = Sender()
    bench.put(SHOP, b"a", label="no \x01 in XML", negative_journaling=True, transaction=UUID(int=3))
    assert bench.posts == []
    assert (bench.bodies(DEAD_STREAM), bench.srmp.state.sent) == ([b"a"], {})
    [warning] = bench.warnings
    assert warning.about.casefold() == SHOP.casefold()
    bench.stream(b"b")
    assert bench.numbers == [1]
    bench.check()


# -- multicast


@pytest.mark.spec("SR-005", "SR-032")
def test_a_multicast_goes_as_one_unit_and_is_done_when_it_is_on_the_wire() -> None:
    bench = Sender()
    bench.plain(b"to all", to=GROUP, positive_journaling=True)
    [sent] = bench.apdus
    assert sent.address == "234.1.1.1:8001"
    arrived = decode_apdu(sent.data, largest=LARGEST)
    assert (arrived.body, arrived.envelope.to) == (b"to all", "MSMQ:MULTICAST=234.1.1.1:8001")
    bench.answer(sent)
    assert (bench.waiting(GROUP), bench.bodies(JOURNAL)) == (0, [b"to all"])


# -- a queue that goes away


@pytest.mark.parametrize(
    "event", [PurgeQueue(0, SHOP), DeleteQueue(0, SHOP)], ids=lambda each: type(each).__name__
)
def test_a_queue_that_is_purged_or_deleted_leaves_nothing_behind(event: object) -> None:
    bench = Sender()
    bench.stream(b"a", b"b", b"c")
    bench.plain(b"d")
    posts = list(bench.posts)
    bench.fail(posts[0])
    bench.ask(event)
    bench.go_on()
    for post in posts:
        bench.answer(post)
    bench.advance(100_000)
    assert bench.srmp.state.sent == {}
    bench.check()


@pytest.mark.spec("SR-022")
def test_an_acknowledgement_of_the_manager_goes_without_the_body_it_is_about() -> None:
    bench = Sender()
    bench.put(SHOP, b"what was lost", message_class=MessageClass.NACK_PURGED, label="lost")
    arrived = bench.arrived(bench.posts[0])
    assert arrived.envelope.commitment_receipt is not None
    assert not arrived.has_body


# -- a queue that is missing there


@pytest.mark.spec("SR-292")
@pytest.mark.parametrize("reason", [None, MessageClass.NACK_BAD_DEST_QUEUE])
def test_messages_go_again_to_a_queue_that_may_be_made_soon(reason: MessageClass | None) -> None:
    bench = Sender(settings=SrmpSettings(missing_queue_time=seconds(60)))
    bench.stream(b"a", b"b")
    bench.answer(bench.posts[0], 400, reason, "to: the queue does not exist")
    assert (bench.waiting(), bench.bodies(DEAD_STREAM)) == (2, [])
    assert bench.warnings[-1].why == "to: the queue does not exist"
    bench.forget()
    bench.advance(20)
    assert bench.numbers == [1, 2]
    bench.answer_all()
    bench.receipt(2)
    assert (bench.waiting(), bench.bodies(DEAD_STREAM)) == (0, [])
    bench.check()


def test_retries_for_a_missing_queue_are_limited() -> None:
    bench = Sender(settings=SrmpSettings(missing_queue_time=seconds(60)))
    bench.plain(b"a", b"b")
    for _ in range(3):
        bench.answer(bench.posts[-2], 400, MessageClass.NACK_BAD_DEST_QUEUE)
        bench.advance(20)
    assert bench.bodies(DEAD) == []
    bench.answer_all_with(400, MessageClass.NACK_BAD_DEST_QUEUE)
    assert (bench.bodies(DEAD), bench.waiting()) == ([b"a", b"b"], 0)
    bench.check()


def test_an_answer_to_a_later_message_of_a_stream_does_not_say_that_the_queue_is_there() -> None:
    """Seed 30139 of `srmp+mqqp+mqqb`: number 2 is ignored with 200 before number 1 is refused, each time."""
    bench = Sender(settings=SrmpSettings(missing_queue_time=seconds(60)))
    bench.stream(b"a", b"b")
    for _ in range(8):
        new = list(zip(bench.posts, bench.numbers, strict=True))
        bench.forget()
        for post, number in sorted(new, key=lambda each: -each[1]):
            bench.answer(post, *((200,) if number > 1 else (400, MessageClass.NACK_BAD_DEST_QUEUE)))
        bench.advance(20)
    assert (bench.bodies(DEAD_STREAM), bench.waiting()) == ([b"a", b"b"], 0)
    bench.check()


def test_an_answer_that_comes_after_the_receipt_of_its_message_changes_nothing() -> None:
    bench = Sender()
    bench.stream(b"a", negative_journaling=True)
    bench.receipt(1)
    bench.answer(bench.posts[0])
    assert (bench.sent.awaiting, bench.waiting()) == (0, 1)
    bench.final(1)
    assert bench.waiting() == 0
    bench.check()


def test_a_refusal_with_another_reason_is_no_missing_queue() -> None:
    bench = Sender()
    bench.plain(b"a")
    bench.answer(bench.posts[0], 400, MessageClass.NACK_ACCESS_DENIED, "no")
    (dead,) = bench.receive(DEAD).messages
    assert dead.position.reason is MessageClass.NACK_ACCESS_DENIED
    assert bench.warnings[-1].why.endswith("its server answered 400 no")
