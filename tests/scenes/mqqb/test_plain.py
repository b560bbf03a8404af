"""Scenes T-32 to T-55 of MQQB: express and recoverable messages, windows and session acknowledgements."""

from __future__ import annotations

import random
from typing import Any
from uuid import UUID

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, Instant, seconds
from reliquary.protocols.mqqb.carrier import check
from reliquary.protocols.mqqb.effects import HangUp, SendPackets
from reliquary.protocols.mqqb.events import EndSessions, PacketsArrived
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.protocols.mqqb.state import Count
from reliquary.queueing.model.events import PurgeQueue
from reliquary.queueing.model.message import Acknowledgement, Delivery, Message, StoredBody
from reliquary.queueing.model.names.formats import parse_single
from reliquary.queueing.model.travel.link import OutgoingState
from reliquary.wire.packet.internal import SessionAck
from reliquary.wire.packet.session import SessionHeader
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, PEER, MqqbBench, link, waiting
from tests.protocols.mqqb.pair import LEFT, RIGHT, Pair

EXPRESS: dict[str, Any] = {"delivery": Delivery.EXPRESS}
STRANGER = UUID("11111111-2222-3333-4444-555555555555")


@pytest.mark.mqqb("T-32", "G-10", "G-16")
@pytest.mark.spec(
    "QB-017",
    "QB-105",
    "QB-117",
    "QB-126",
    "QB-157",
    "QB-200",
    "QB-202",
    "QB-203",
    "QB-240",
    "QB-273",
    "QB-274",
    "QB-275",
    "QB-283",
)
def test_no_more_than_the_smaller_window_is_under_way() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, *(b"%d" % number for number in range(300)), **EXPRESS)
    peer = bench.dialled(window=16)
    assert len(peer.bodies) == 16
    for acked in range(8, 301, 8):
        peer.ack(acked, window=16)
        assert len(peer.bodies) == min(acked + 16, 300)
    peer.ack(300, window=16)
    assert peer.bodies == [b"%d" % number for number in range(300)]
    assert waiting(bench) == 0


@pytest.mark.mqqb("T-32", "G-11")
def test_a_sender_with_a_full_window_is_acknowledged_at_once() -> None:
    bench = MqqbBench()
    peer = bench.accepted(window=16)
    for number in range(16):
        peer.user(b"%d" % number, express=True)
    assert [each.ack for each in peer.acks] == [8, 16]


@pytest.mark.mqqb("T-33")
@pytest.mark.spec("QB-018", "QB-118", "QB-127", "QB-128", "QB-204", "QB-206", "QB-213")
def test_express_messages_go_by_count_and_recoverable_ones_by_their_bit() -> None:
    bench = MqqbBench()
    for number in range(6):
        bench.send(
            ELSEWHERE, b"%d" % number, delivery=Delivery.EXPRESS if number % 2 else Delivery.RECOVERABLE
        )
    peer = bench.dialled()
    peer.ack(6)
    assert waiting(bench) == 3
    peer.ack(6, first=1, bits=0b101)
    assert waiting(bench) == 1
    peer.ack(6, first=2, bits=0b1)
    assert waiting(bench) == 0


@pytest.mark.mqqb("T-33")
@pytest.mark.spec("QB-018", "QB-128")
def test_a_header_names_the_first_new_recoverable_packet_or_none() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    peer.user(b"e", express=True)
    bench.advance(10.1)
    peer.user(b"r")
    bench.advance(0.6)
    peer.user(b"e", express=True)
    peer.user(b"r")
    bench.advance(0.6)
    assert [(each.ack, each.recoverable_ack, each.recoverable_set) for each in peer.acks] == [
        (1, 0, 0),
        (2, 1, 1),
        (4, 2, 1),
    ]


@pytest.mark.mqqb("T-34")
@pytest.mark.spec("QB-213")
def test_thirty_two_recoverable_packets_are_acknowledged_at_once_and_bits_begin_anew() -> None:
    bench = MqqbBench(settings=MqqbSettings(window=1000))
    peer = bench.accepted(window=1000)
    peer.send(*(peer.made(b"%d" % number) for number in range(40)))
    (first,) = peer.acks
    assert (first.ack, first.recoverable_ack, first.recoverable_set) == (32, 1, 0xFFFFFFFF)
    bench.advance(0.6)
    assert (peer.acks[-1].ack, peer.acks[-1].recoverable_ack, peer.acks[-1].recoverable_set) == (40, 33, 0xFF)
    assert len(bench.bodies("orders")) == 40


@pytest.mark.mqqb("T-35")
@pytest.mark.spec("QB-201", "QB-204", "QB-205")
def test_an_acknowledgement_frees_nothing_that_was_not_sent() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, *(b"%d" % number for number in range(20)))
    peer = bench.dialled(window=10)
    assert len(peer.bodies) == 10
    peer.ack(10, first=1, bits=0x3FF, window=10)
    assert waiting(bench) == 10
    assert len(peer.bodies) == 20


@pytest.mark.mqqb("T-36")
@pytest.mark.spec("QB-151", "QB-201")
def test_numbers_of_an_older_session_mean_nothing() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, *(b"%d" % number for number in range(10)))
    bench.dialled().lose()
    bench.advance(5.1)
    peer = bench.dialled()
    assert len(peer.bodies) == 10
    peer.ack(5, first=1, bits=0b11111)
    assert waiting(bench) == 5


@pytest.mark.mqqb("T-37")
@pytest.mark.parametrize(
    ("gone", "more"), [(65_530, 40), (65_536, 10)], ids=["soon", "the last acknowledgement begins at 0"]
)
def test_a_session_goes_on_when_its_counters_wrap(gone: int, more: int) -> None:
    settings = MqqbSettings(window=64)
    pair = Pair(settings=settings)
    session = f"DIRECT=TCP:{RIGHT}\\private$\\orders"
    pair.left.send(session, b"first")
    pair.run()
    pair.advance(1)
    (mine,) = pair.left.mqqb.sessions.values()
    (theirs,) = pair.right.mqqb.sessions.values()
    for one, other in ((mine, theirs), (theirs, mine)):  # as if `gone` packets had gone both ways
        one.sent = one.acked = other.received = gone
        one.recoverable_sent = other.recoverable_received = other.last_acked = gone - 1
    for number in range(more):
        pair.left.send(session, b"r%d" % number)
        pair.left.send(session, b"e%d" % number, **EXPRESS)
        pair.run()
    pair.advance(1)
    assert len(pair.right.bodies("orders")) == 1 + 2 * more
    assert mine.sent > 65_536
    assert waiting(pair.left, session) == 0
    assert pair.left.mqqb.counts[Count.MALFORMED] == 0


def test_a_drained_session_is_renewed_before_its_counters_wrap() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    peer = bench.dialled()
    peer.state.sent = 0xC000 - 1
    peer.state.acked = 0xC000 - 2
    peer.ack(0xC000 - 1, first=1, bits=1)
    assert not peer.is_closed
    bench.send(ELSEWHERE, b"b")
    peer.ack(0xC000, first=2, bits=1)
    assert peer.hung_up
    bench.send(ELSEWHERE, b"c")
    assert bench.dialled().bodies == [b"c"]


@pytest.mark.mqqb("T-38")
@pytest.mark.spec("QB-140", "QB-160", "QB-215", "QB-216", "QB-217", "QB-243")
def test_acknowledgements_wait_for_their_timer_and_none_is_empty() -> None:
    bench = MqqbBench()
    peer = bench.accepted(recoverable_ack_timeout=2000)
    peer.user(b"e", express=True)
    bench.advance(9.9)
    assert peer.acks == []
    bench.advance(0.2)
    assert len(peer.acks) == 1
    peer.user(b"e", express=True)
    peer.user(b"r")
    bench.advance(1.9)
    assert len(peer.acks) == 1
    bench.advance(0.2)
    assert len(peer.acks) == 2
    bench.advance(60)
    assert len(peer.acks) == 2


@pytest.mark.mqqb("T-39")
@pytest.mark.spec("QB-214")
def test_a_bit_waits_for_the_sync_of_the_turn_that_stored_its_message() -> None:
    bench = MqqbBench()
    peer = bench.accepted(window=4)
    stored = bench.handle(PacketsArrived(peer.session, (peer.made(b"r").encode(),)))
    assert any(not fact.volatile for fact in stored.facts)
    express = bench.handle(PacketsArrived(peer.session, (peer.made(b"e", express=True).encode(),)))
    assert all(fact.volatile for fact in express.facts)
    assert peer.acks[-1].recoverable_set == 1
    assert express.waits  # the SessionHeader leaves in a turn that waits for the disk


@pytest.mark.mqqb("T-40")
def test_packets_are_written_in_the_order_of_their_numbers() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"r0")
    peer = bench.dialled()
    before = peer.state.serial
    bench.send(ELSEWHERE, b"r1")
    bench.send(ELSEWHERE, b"e2", **EXPRESS)
    sends = [each for each in bench.out if isinstance(each, SendPackets) and each.session == peer.session]
    assert [each.serial for each in sends] == list(range(1, before + 3))
    assert peer.bodies == [b"r0", b"r1", b"e2"]
    durable = [any(not fact.volatile for fact in turn.facts) for turn in bench.turns[-2:]]
    assert durable == [True, False]  # by itself the second one would not wait for the disk


@pytest.mark.mqqb("T-41")
@pytest.mark.spec("QB-021", "QB-139", "QB-210", "QB-219", "QB-220", "QB-221", "QB-222", "QB-285")
def test_a_silent_peer_is_left_between_one_and_two_waits() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    peer = bench.dialled()
    bench.advance(39)
    peer.user(b"something else", express=True)
    bench.advance(2)
    assert not peer.is_closed
    bench.advance(38)
    assert not peer.is_closed
    bench.advance(2)
    assert peer.hung_up
    assert bench.mqqb.counts[Count.TIMED_OUT] == 1
    bench.advance(5.1)
    assert bench.dialled().bodies == [b"a"]


@pytest.mark.spec("QB-220")
def test_a_peer_that_has_acknowledged_all_may_be_silent() -> None:
    bench = MqqbBench(settings=MqqbSettings(cleanup=seconds(3600)))
    bench.send(ELSEWHERE, b"a")
    peer = bench.dialled()
    peer.ack_all()
    bench.advance(200)
    assert not peer.is_closed


@pytest.mark.mqqb("T-42")
@pytest.mark.spec("QB-212", "QB-218", "QB-284")
def test_an_acknowledgement_that_is_nearly_due_is_sent_with_a_message() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    peer = bench.dialled()
    peer.ack_all()
    peer.user(b"x", express=True)
    bench.advance(7)
    bench.send(ELSEWHERE, b"b")
    assert peer.acks == []
    bench.advance(1)
    bench.send(ELSEWHERE, b"c")
    header = peer.acks[-1]
    assert (header, len(peer.acks)) == (SessionHeader(1, 0, 0, 3, 3, 64), 1)
    bench.advance(10)
    assert not any(isinstance(each, SessionAck) for each in peer.got)


@pytest.mark.mqqb("T-42", "G-58")
@pytest.mark.spec("QB-218")
def test_a_packet_that_waited_for_the_window_has_the_acknowledgement_of_the_time_when_it_leaves() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"1", b"2", b"3", b"4")
    peer = bench.dialled(window=4)
    bench.send(ELSEWHERE, b"5")  # there was nothing to acknowledge when it was made (G-58)
    bench.send(ELSEWHERE, b"6")
    peer.user(b"x", express=True)
    bench.advance(8)
    peer.ack(1, first=1, bits=1, window=4)
    assert peer.bodies[4:] == [b"5"]
    assert peer.acks == [SessionHeader(1, 0, 0, 5, 5, 64)]
    bench.advance(3)
    peer.ack(2, first=2, bits=1, window=4)
    assert peer.bodies[4:] == [b"5", b"6"]
    assert len(peer.acks) == 1  # nothing new came meanwhile


@pytest.mark.mqqb("T-43")
@pytest.mark.spec("QB-019", "QB-209")
def test_a_wrong_count_closes_the_session_after_the_packet_was_taken() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    peer = bench.dialled()
    wrong = SessionHeader(1, 1, 1, 2, 1, 64)  # it has sent one packet, and says two
    peer.user(b"x", header=wrong)
    assert bench.bodies("orders") == [b"x"]
    assert waiting(bench) == 0
    assert peer.hung_up
    assert "it has sent 2 packets" in bench.warnings[-1].why
    assert bench.mqqb.counts[Count.MALFORMED] == 1


@pytest.mark.spec("QB-209")
def test_an_acknowledgement_of_packets_that_were_never_sent_closes_the_session() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    peer = bench.dialled()
    peer.ack(2)
    assert peer.hung_up
    assert waiting(bench) == 1


@pytest.mark.mqqb("T-44", "G-18")
@pytest.mark.spec("QB-017")
def test_order_and_final_acknowledgements_are_counted_like_messages() -> None:
    bench = MqqbBench("torders")
    bench.create("ledger", transactional=True)
    peer = bench.accepted()
    ledger = "TCP:10.0.0.2\\private$\\ledger"
    peer.user(b"a", to=ledger, stream=(1, 0), negative_journaling=True)
    bench.advance(0.6)
    assert len(peer.order_acks) == 1
    bench.receive("ledger")
    assert len(peer.final_acks) == 1
    session = peer.state
    assert (session.sent, session.recoverable_sent) == (2, 1)
    peer.order_ack(1, 1)
    peer.final_ack(1, 1, 0x4000)
    bench.advance(0.6)
    assert (peer.acks[-1].ack, session.received) == (3, 3)


@pytest.mark.mqqb("T-45")
@pytest.mark.spec("QB-137", "QB-153", "QB-159", "QB-272", "QB-295", "QB-299")
@pytest.mark.parametrize("idle", [300, 60])
def test_an_idle_session_is_closed_and_the_next_message_opens_another(idle: int) -> None:
    bench = MqqbBench(settings=MqqbSettings(cleanup=seconds(idle)))
    bench.send(ELSEWHERE, b"a")
    peer = bench.dialled()
    peer.ack_all()
    bench.advance(2 * idle - 1)  # it was active in the first of these two times
    assert not peer.is_closed
    bench.advance(2)
    assert peer.hung_up
    assert link(bench).state is OutgoingState.DISCONNECTED
    bench.send(ELSEWHERE, b"b")
    assert bench.dialled().bodies == [b"b"]


@pytest.mark.mqqb("T-45", "T-55")
@pytest.mark.spec("QB-168")
def test_acknowledgements_that_are_due_are_sent_before_sessions_are_closed() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    peer.user(b"a")
    bench.handle(EndSessions())
    assert peer.acks[-1].recoverable_set == 1
    assert peer.hung_up
    last = [each for each in bench.out if getattr(each, "session", 0) == peer.session]
    assert isinstance(last[-1], HangUp)
    assert last[-1].serial == max(each.serial for each in last if isinstance(each, SendPackets)) + 1


@pytest.mark.mqqb("T-47")
@pytest.mark.spec("QB-208")
def test_a_message_that_asks_for_a_journal_copy_has_one_when_it_is_stored_there() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a", positive_journaling=True)
    peer = bench.dialled()
    peer.ack(1)
    assert bench.bodies("system$;journal") == []
    peer.ack(1, first=1, bits=1)
    peer.ack(1, first=1, bits=1)
    assert bench.bodies("system$;journal") == [b"a"]


@pytest.mark.mqqb("T-48")
@pytest.mark.spec("QB-014", "QB-278", "QB-279", "QB-280")
def test_an_expired_message_is_never_sent_and_refused_where_it_comes_too_late() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a", time_to_reach_queue=1, negative_journaling=True)
    bench.advance(3)
    peer = bench.dialled() if bench.dials else None
    assert peer is None or peer.bodies == []
    assert bench.bodies("system$;deadletter") == [b"a"]
    late = bench.accepted()
    late.user(b"x", time_to_reach_queue=1, sent_time=bench.now // SECOND - 60)
    bench.advance(0.6)
    assert bench.bodies("orders") == []
    assert late.acks[-1].recoverable_set == 1


@pytest.mark.mqqb("T-49")
def test_a_purge_while_a_message_is_under_way_is_no_error() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a", b"b")
    peer = bench.dialled()
    bench.ask(PurgeQueue(0, ELSEWHERE))
    peer.ack_all()
    bench.advance(1)
    assert not peer.is_closed
    assert peer.bodies == [b"a", b"b"]
    assert waiting(bench) == 0


@pytest.mark.mqqb("T-50")
@pytest.mark.spec("QB-012")
def test_a_packet_over_four_megabytes_is_refused_at_the_send() -> None:
    bench = MqqbBench()
    room = 0x00400000 - len(_packet_of(bench, b""))
    room -= room % 4
    assert bench.send(ELSEWHERE, bytes(room)).status == 0
    answer = bench.send(ELSEWHERE, bytes(room + 1))
    assert "a packet has at most 4194304 bytes" in answer.why
    small = MqqbBench(settings=MqqbSettings(largest_packet=70_000))
    assert "at most 70000 bytes on the wire" in small.send(ELSEWHERE, bytes(70_000)).why
    pieces = Message.of(stored_body=StoredBody(1, 10, 1))
    with pytest.raises(UsageError, match="body in pieces"):
        check(bench.state, parse_single(ELSEWHERE), pieces, in_transaction=False, largest=1 << 22)


def _packet_of(bench: MqqbBench, body: bytes) -> bytes:
    bench.send(ELSEWHERE, body)
    peer = bench.dialled()
    peer.ack_all()
    return peer.messages[-1].encode()


@pytest.mark.mqqb("T-51")
@pytest.mark.spec("QB-095", "QB-096", "QB-143", "QB-238", "QB-242", "QB-301")
def test_a_known_identifier_is_dropped_but_counted_and_acknowledged() -> None:
    bench = MqqbBench()
    bench.create("other")
    peer = bench.accepted()
    peer.user(b"a", number=7)
    peer.user(b"again", number=7)
    bench.advance(0.6)
    assert bench.bodies("orders") == [b"a"]
    assert (peer.acks[-1].ack, peer.acks[-1].recoverable_set) == (2, 3)
    peer.user(b"of another manager", number=7, source=STRANGER)
    peer.user(b"for another queue", number=7, to="TCP:10.0.0.2\\private$\\other")
    assert bench.bodies("orders") == [b"a", b"of another manager"]
    assert bench.bodies("other") == [b"for another queue"]
    bench.advance(1801)
    fresh = bench.accepted()
    fresh.user(b"much later", number=7)
    assert bench.bodies("orders")[-1] == b"much later"
    assert bench.mqqb.counts[Count.DUPLICATES] == 1


@pytest.mark.mqqb("T-51")
@pytest.mark.spec("QB-238", "QB-301")
@pytest.mark.parametrize("express", [True, False])
@pytest.mark.parametrize("restart", [True, False])
def test_a_duplicate_is_known_for_the_whole_time_from_when_it_last_came(express: bool, restart: bool) -> None:
    bench = MqqbBench()
    for _ in range(3):
        bench.accepted().user(b"a", number=7, express=express)
        if restart and not express:
            bench.restart()
        bench.advance(1700)
    assert bench.bodies("orders") == [b"a"]


@pytest.mark.mqqb("T-52")
@pytest.mark.spec("QB-097", "QB-098", "QB-146", "QB-277")
def test_identifiers_are_known_after_a_restart() -> None:
    bench = MqqbBench()
    bench.accepted().user(b"a", number=7)
    bench.restart()
    peer = bench.accepted()
    peer.user(b"again", number=7)
    assert bench.bodies("orders") == [b"a"]
    bench.send(ELSEWHERE, b"one")
    first = bench.dialled().messages[-1].user.message_id
    bench.restart()
    bench.send(ELSEWHERE, b"two")
    assert first not in [
        each.user.message_id for each in bench.dialled().messages if each.properties.body == b"two"
    ]


@pytest.mark.mqqb("T-53", "G-23")
@pytest.mark.spec("QB-239", "QB-242", "QB-265")
def test_a_full_manager_closes_the_session_and_remembers_nothing() -> None:
    bench = MqqbBench(quota=1)
    peer = bench.accepted()
    peer.user(bytes(2000), number=7)
    assert peer.hung_up
    assert bench.mqqb.counts[Count.MALFORMED] == 0  # the peer did nothing wrong
    assert bench.bodies("orders") == []
    again = bench.accepted()
    again.user(b"small enough", number=7)
    assert bench.bodies("orders") == [b"small enough"]


@pytest.mark.mqqb("T-54")
@pytest.mark.spec("QB-113", "QB-154", "QB-167")
@pytest.mark.parametrize("seed", range(6))
def test_crashes_of_either_side_lose_and_double_nothing(seed: int) -> None:
    chance = random.Random(seed)
    pair = Pair()
    name = f"DIRECT=TCP:{RIGHT}\\private$\\orders"
    bodies = [b"%d" % number for number in range(60)]
    for body in bodies:
        pair.left.send(name, body)
    for _ in range(4):
        pair.budget = chance.randint(500, 9000)
        pair.run()
        pair.left.flush()
        pair.right.flush()
        pair.advance(chance.choice((0.3, 1, 6)))
        pair.left.flush()
        pair.right.flush()
        pair.restart(chance.choice((LEFT, RIGHT)), crash=True)
    pair.budget = None
    pair.advance(30)
    assert sorted(pair.right.bodies("orders")) == sorted(bodies)
    assert waiting(pair.left, name) == 0


@pytest.mark.spec("QB-014")
def test_a_clock_that_goes_back_forgets_no_identifier() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    peer.user(b"a", number=7, sent_time=0, time_to_reach_queue=0xFFFFFFFF)
    bench.now = Instant(bench.now - 3_600 * SECOND)
    peer.user(b"again", number=7, sent_time=0, time_to_reach_queue=0xFFFFFFFF)
    assert bench.bodies("orders") == [b"a"]


def test_messages_of_two_queues_share_the_session_to_their_host() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    bench.send(ELSEWHERE.replace("\\q", "\\other"), b"b")
    assert len(bench.dials) == 1
    assert bench.dialled().bodies == [b"a", b"b"]


def test_a_session_that_a_peer_opened_serves_its_host_once_it_is_known_there() -> None:
    bench = MqqbBench()
    caller = bench.accepted()
    bench.send(ELSEWHERE, b"a")
    own = bench.dialled()  # the first time the host is dialled, because an address does not tell a manager
    assert (caller.bodies, own.bodies) == ([], [b"a"])
    own.ack_all()
    own.lose()
    bench.send(ELSEWHERE, b"b")
    bench.advance(5.1)
    assert len(bench.dials) == 1
    assert caller.bodies == [b"b"]


def test_a_caller_that_claims_the_guid_of_another_manager_gets_none_of_its_messages() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    own = bench.dialled()
    own.ack_all()
    own.lose()
    stranger = bench.accepted("10.0.0.66", PEER)
    bench.send(ELSEWHERE, b"b")
    bench.advance(5.1)
    assert stranger.bodies == []
    assert len(bench.dials) == 2


def test_acknowledgements_asked_for_with_a_message_come_back() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    admin = "DIRECT=TCP:10.0.0.1\\private$\\admin"
    peer.user(
        b"a",
        administration_queue=admin,
        acknowledgements=(Acknowledgement.FULL_RECEIVE, Acknowledgement.POS_ARRIVAL),
    )
    bench.receive("orders")
    back = bench.dialled(guid=PEER)
    assert [each.properties.message_class for each in back.messages] == [0x0002, 0x4000]
