"""Scenes T-15 to T-31 of MQQB: sessions are opened, refused and given up."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.base.hresult import HResult
from reliquary.base.time import later, seconds
from reliquary.protocols.mqqb.effects import SendPackets, SendPing
from reliquary.protocols.mqqb.events import (
    AddressesFound,
    ConnectionLost,
    DialFailed,
    Dialled,
    PingArrived,
)
from reliquary.protocols.mqqb.pings import response_to
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.protocols.mqqb.state import Count
from reliquary.queueing.model.directory.integration import Integration
from reliquary.queueing.model.directory.objects import ManagerObject, QueueObject
from reliquary.queueing.model.events import PauseQueue, ResumeQueue
from reliquary.queueing.model.message import NO_GUID, Acknowledgement
from reliquary.queueing.model.travel.link import ConnectionStatus, OutgoingState
from reliquary.queueing.travel.failures import Failure
from reliquary.wire.packet.internal import (
    ConnectionParameters,
    EstablishConnection,
    SessionAck,
    decode_internal,
)
from reliquary.wire.packet.ping import Ping, decode_ping
from tests.protocols.mqqb.mqqb_harness import (
    ELSEWHERE,
    PEER,
    PEER_ADDRESS,
    MqqbBench,
    Peer,
    link,
    parameters_with,
    waiting,
)
from tests.protocols.mqqb.pair import LEFT, RIGHT, Pair
from tests.queueing.directory.harness import add

STRANGER = UUID("11111111-2222-3333-4444-555555555555")
SALES = UUID("66666666-7777-8888-9999-000000000000")


@pytest.mark.mqqb("T-15", "G-06")
@pytest.mark.spec(
    "QB-006", "QB-044", "QB-045", "QB-046", "QB-164", "QB-170", "QB-174", "QB-179", "QB-182", "QB-185"
)
def test_a_message_goes_to_the_host_of_its_direct_name() -> None:
    pair = Pair()
    pair.left.send(f"DIRECT=TCP:{RIGHT}\\private$\\orders", b"a")
    pair.run()
    request = next(each for each in pair.left.out if isinstance(each, SendPackets)).packets[0]
    asked = decode_internal(request)
    assert isinstance(asked, EstablishConnection)
    assert (asked.client, asked.server) == (pair.left.own, NO_GUID)
    (session,) = pair.left.mqqb.sessions.values()
    assert session.peer == pair.right.own
    assert pair.right.bodies("orders") == [b"a"]


@pytest.mark.mqqb("T-16")
@pytest.mark.spec("QB-034", "QB-184", "QB-186")
def test_only_a_call_for_this_manager_is_accepted() -> None:
    bench = MqqbBench()
    for asked, refused in ((STRANGER, True), (bench.own, False), (NO_GUID, False)):
        peer = bench.accept()
        peer.send(EstablishConnection(client=PEER, server=asked, timestamp=9))
        (answer,) = peer.got
        assert isinstance(answer, EstablishConnection)
        assert (answer.refused, answer.server, answer.timestamp) == (refused, bench.own, 9)
        assert peer.hung_up is refused


@pytest.mark.mqqb("T-17")
@pytest.mark.spec("QB-187")
@pytest.mark.parametrize(
    ("client", "server", "refused"),
    [(None, PEER, True), (STRANGER, PEER, False), (None, NO_GUID, False)],
    ids=["refused", "for another", "nameless"],
)
def test_a_wrong_answer_to_our_call_ends_the_session(
    client: UUID | None, server: UUID, refused: bool
) -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    peer = bench.answer_dial()
    peer.send(EstablishConnection(client=client or bench.own, server=server, timestamp=1, refused=refused))
    assert peer.hung_up
    found = link(bench)
    assert found.history[-1].status is ConnectionStatus.CONNECTION_REFUSED
    assert found.resting
    bench.advance(4.9)
    assert len(bench.dials) == 1
    bench.advance(0.2)
    assert len(bench.dials) == 2
    assert bench.dialled().bodies == [b"a"]


PACKETS = {
    "establish": EstablishConnection(client=PEER, server=NO_GUID, timestamp=1),
    "parameters": parameters_with(),
    "session ack": None,
    "user message": b"",
}


@pytest.mark.mqqb("T-18")
@pytest.mark.spec("QB-181", "QB-191", "QB-197", "QB-199", "QB-223", "QB-232", "QB-236", "QB-166")
@pytest.mark.parametrize("kind", PACKETS)
@pytest.mark.parametrize("phase", ["waiting-ec", "waiting-ecr", "waiting-cp", "waiting-cpr", "open"])
def test_a_packet_that_does_not_belong_to_the_phase_closes_the_session(phase: str, kind: str) -> None:
    bench = MqqbBench()
    peer = _in_phase(bench, phase)
    expected = {
        "waiting-ec": {"establish"},
        "waiting-ecr": {"establish"},
        "waiting-cp": {"parameters"},
        "waiting-cpr": {"parameters"},
        "open": {"session ack", "user message"},
    }
    before = len(peer.got)
    if kind == "user message":
        peer.user(b"x")
    elif kind == "session ack":
        peer.ack()
    elif kind == "establish" and phase == "waiting-ecr":
        peer.send(EstablishConnection(client=bench.own, server=PEER, timestamp=1))
    else:
        packet = PACKETS[kind]
        assert packet is not None
        peer.send(packet)
    assert peer.hung_up is (kind not in expected[phase])
    if peer.hung_up:
        assert len(peer.got) == before  # G-67: no reply
        assert bench.bodies("orders") == []


def _in_phase(bench: MqqbBench, phase: str) -> Peer:
    if phase == "waiting-ec":
        return bench.accept()
    if phase in ("waiting-cp", "open"):
        peer = bench.accept()
        peer.send(EstablishConnection(client=PEER, server=NO_GUID, timestamp=1))
        if phase == "open":
            peer.send(parameters_with())
        return peer
    bench.send(ELSEWHERE, b"a")
    peer = bench.answer_dial()
    if phase == "waiting-cpr":
        peer.send(EstablishConnection(client=bench.own, server=PEER, timestamp=1))
    return peer


@pytest.mark.mqqb("T-19")
@pytest.mark.spec("QB-136", "QB-178", "QB-198", "QB-300")
def test_a_silent_handshake_is_given_up_and_other_sessions_go_on() -> None:
    bench = MqqbBench()
    silent = bench.accept()
    bench.advance(30)
    half = bench.accept()
    half.send(EstablishConnection(client=PEER, server=NO_GUID, timestamp=1))
    good = bench.accepted()
    bench.advance(29.9)
    assert not silent.is_closed
    bench.advance(0.2)
    assert silent.hung_up
    assert not half.is_closed
    bench.advance(30)
    assert half.hung_up
    assert not good.is_closed


@pytest.mark.mqqb("T-20", "T-30")
@pytest.mark.spec("QB-035", "QB-080", "QB-183", "QB-311", "QB-312")
def test_more_sessions_than_allowed_are_refused_and_pings_say_so() -> None:
    bench = MqqbBench(settings=MqqbSettings(sessions=2, answer_pings=True))
    ping = Ping(7, PEER, is_client=True).encode()

    def pong() -> Ping:
        bench.handle(PingArrived("10.0.0.9", 4057, ping))
        answer = [each for each in bench.out if isinstance(each, SendPing)][-1]
        assert (answer.address, answer.port) == ("10.0.0.9", 4057)
        found = decode_ping(answer.data)
        assert found is not None
        return found

    bench.accepted()
    assert pong() == Ping(7, bench.own, is_client=True, refused=False)
    bench.accepted()
    third = bench.accept()
    third.send(EstablishConnection(client=PEER, server=NO_GUID, timestamp=1))
    (answer,) = third.got
    assert isinstance(answer, EstablishConnection)
    assert answer.refused
    assert third.hung_up
    assert pong().refused


@pytest.mark.mqqb("T-21")
@pytest.mark.spec("QB-047", "QB-188", "QB-189")
@pytest.mark.parametrize(("trip", "span"), [(0.010, 500), (0.187, 1496), (20, 120_000), (-3600, 120_000)])
def test_eight_round_trips_are_the_time_for_acknowledgements(trip: float, span: int) -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    peer = bench.answer_dial()
    request = peer.got[0]
    assert isinstance(request, EstablishConnection)
    bench.now = later(bench.now, seconds(trip))
    peer.send(EstablishConnection(client=bench.own, server=PEER, timestamp=request.timestamp))
    answer = peer.got[-1]
    assert isinstance(answer, ConnectionParameters)
    assert answer.recoverable_ack_timeout == span
    assert answer.ack_timeout == 20_000


@pytest.mark.mqqb("T-22")
@pytest.mark.spec("QB-039", "QB-040", "QB-042", "QB-192", "QB-193", "QB-194")
def test_parameters_out_of_range_close_the_session_and_the_smaller_window_counts() -> None:
    for wrong in (
        {"recoverable_ack_timeout": 499},
        {"recoverable_ack_timeout": 120_001},
        {"ack_timeout": 19_999},
    ):
        bench = MqqbBench()
        peer = bench.accept()
        peer.send(EstablishConnection(client=PEER, server=NO_GUID, timestamp=1))
        valid = parameters_with().encode()
        at, value = {
            "recoverable_ack_timeout": (20, wrong.get("recoverable_ack_timeout")),
            "ack_timeout": (24, wrong.get("ack_timeout")),
        }[next(iter(wrong))]
        assert value is not None
        peer.send(valid[:at] + value.to_bytes(4, "little") + valid[at + 4 :])
        assert peer.hung_up
    for window, room in ((0, 1), (1, 1), (65_535, 64)):
        bench = MqqbBench()
        peer = bench.accepted(window=window)
        answer = peer.got[-1]
        assert isinstance(answer, ConnectionParameters)
        assert answer.window == 64
        assert peer.state.room == room


@pytest.mark.mqqb("T-23")
@pytest.mark.spec("QB-048", "QB-050", "QB-053", "QB-054", "QB-055")
@pytest.mark.parametrize("word", [0x0310, 0x0000, 0x1080, 0xFFFF])
def test_any_operating_system_is_accepted_and_repeated(word: int) -> None:
    bench = MqqbBench()
    peer = bench.accept()
    peer.send(EstablishConnection(client=PEER, server=NO_GUID, timestamp=1, operating_system=word))
    (answer,) = peer.got
    assert isinstance(answer, EstablishConnection)
    assert (answer.refused, answer.operating_system) == (False, word)


@pytest.mark.spec("QB-051", "QB-049")
def test_our_call_says_what_kind_of_computer_this_is() -> None:
    for server, word in ((False, 0x0110), (True, 0x0310)):
        bench = MqqbBench(settings=MqqbSettings(server_class=server))
        bench.send(ELSEWHERE, b"a")
        request = bench.answer_dial().got[0]
        assert isinstance(request, EstablishConnection)
        assert request.operating_system == word


@pytest.mark.mqqb("T-24")
@pytest.mark.spec("QB-112", "QB-138", "QB-173", "QB-195", "QB-297")
def test_the_next_address_of_a_host_is_tried_after_a_failure() -> None:
    bench = MqqbBench()
    name = "DIRECT=OS:shop.example\\private$\\q"
    bench.send(name, b"a")
    first = bench.dials[-1]
    assert (first.host, first.addresses) == ("shop.example", ())
    bench.handle(AddressesFound(first.session, ("10.0.0.8", "fe80::9")))
    bench.handle(Dialled(first.session, "10.0.0.8"))
    dead = Peer(bench, first.session, "10.0.0.8")
    dead.send(EstablishConnection(client=bench.own, server=PEER, timestamp=1, refused=True))
    assert link(bench, name).next_hops == ("IP=10.0.0.8", "IPv6=fe80::9")
    bench.advance(5.1)
    assert bench.dials[-1].addresses == ("fe80::9",)
    assert bench.dialled("fe80::9").bodies == [b"a"]
    assert link(bench, name).next_hops == ("IPv6=fe80::9",)


@pytest.mark.mqqb("T-24")
@pytest.mark.spec("QB-136", "QB-173")
def test_a_host_is_reached_after_three_addresses_that_do_not_answer() -> None:
    bench = MqqbBench()
    bench.send("DIRECT=OS:shop.example\\private$\\q", b"a")
    addresses = ("10.0.0.6", "10.0.0.7", "fe80::8", PEER_ADDRESS)
    bench.handle(AddressesFound(bench.dials[-1].session, addresses))
    bench.advance(61)  # 20 seconds for each of them
    assert bench.dialled(PEER_ADDRESS).bodies == [b"a"]
    assert len(bench.dials) == 1


@pytest.mark.mqqb("T-24")
def test_a_retry_tries_the_addresses_that_are_left_however_many_do_not_answer() -> None:
    bench = MqqbBench()
    bench.send("DIRECT=OS:shop.example\\private$\\q", b"a")
    addresses = ("10.0.0.5", "10.0.0.6", "10.0.0.7", "fe80::8", PEER_ADDRESS)
    first = bench.dials[-1].session
    bench.handle(AddressesFound(first, addresses))
    bench.handle(Dialled(first, "10.0.0.5"))
    bench.handle(ConnectionLost(first))
    bench.advance(5.1)
    assert bench.dials[-1].addresses == addresses[1:]
    bench.advance(61)
    assert bench.dialled(PEER_ADDRESS).bodies == [b"a"]


@pytest.mark.mqqb("T-25")
@pytest.mark.spec("QB-169", "QB-180", "QB-190", "QB-196")
def test_the_history_of_connections_has_every_step() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    bench.fail_dial()
    assert link(bench).state is OutgoingState.INACTIVE
    bench.advance(5.1)
    assert link(bench).state is OutgoingState.WAITING
    bench.dialled()
    assert link(bench).state is OutgoingState.CONNECTED
    assert [each.status for each in link(bench).history] == [
        ConnectionStatus.IN_PROCESS,
        ConnectionStatus.SOCKET_CONNECT_FAILURE,
        ConnectionStatus.IN_PROCESS,
        ConnectionStatus.ESTABLISH_PACKET_RECEIVED,
        ConnectionStatus.ESTABLISHED,
    ]
    unreachable = HResult.REMOTE_MACHINE_NOT_AVAILABLE
    assert [each.error for each in link(bench).history] == [0, unreachable, 0, 0, 0]


@pytest.mark.mqqb("T-25")
@pytest.mark.spec("QB-169")
def test_a_host_without_an_address_and_one_that_is_silent_have_their_errors_in_the_history() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    bench.handle(AddressesFound(bench.dials[-1].session, ()))
    bench.fail_dial(Failure.NO_ADDRESS)
    assert link(bench).next_hops == ()
    bench.advance(5.1)
    bench.answer_dial()
    bench.advance(61)
    found = [(each.status, each.error) for each in link(bench).history if each.error]
    assert found == [
        (ConnectionStatus.DNS_FAILURE, HResult.REMOTE_MACHINE_NOT_AVAILABLE),
        (ConnectionStatus.CONNECTION_NOT_READY, HResult.IO_TIMEOUT),
    ]
    assert {each.addresses for each in link(bench).history} == {(), (f"IP={PEER_ADDRESS}",)}


@pytest.mark.mqqb("T-17")
@pytest.mark.spec("QB-033")
def test_a_peer_that_refuses_the_parameters_has_no_session() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    peer = bench.answer_dial()
    peer.send(EstablishConnection(client=bench.own, server=PEER, timestamp=1))
    peer.send(ConnectionParameters(refused=True))
    assert (peer.is_closed, peer.bodies) == (True, [])
    assert link(bench).history[-1].status is ConnectionStatus.CONNECTION_REFUSED
    bench.advance(5.1)
    assert len(bench.dials) == 2
    caller = bench.accept()
    caller.send(EstablishConnection(client=PEER, server=NO_GUID, timestamp=1))
    caller.send(ConnectionParameters(refused=True))
    assert caller.is_closed
    assert bench.mqqb.counts[Count.MALFORMED] == 1


@pytest.mark.mqqb("T-26")
@pytest.mark.spec("QB-171")
def test_names_that_need_a_directory_are_refused_at_the_send() -> None:
    bench = MqqbBench()
    answer = bench.send(f"PRIVATE={STRANGER}\\0000000a", b"a")
    assert "not used for sending yet" in answer.why
    assert bench.dials == []


@pytest.mark.mqqb("T-26")
@pytest.mark.spec("QB-171")
@pytest.mark.parametrize("name", [f"PRIVATE={STRANGER}\\0000000a", f"PUBLIC={SALES}"])
def test_messages_to_names_that_need_a_directory_wait_and_expire(name: str) -> None:
    bench = MqqbBench(settings=None, directory=Integration())
    add(bench, ManagerObject(identifier=STRANGER, computer_name="OTHER"))
    add(bench, QueueObject(identifier=SALES, queue_manager=STRANGER, pathname="OTHER\\sales"))
    bench.send(name, b"a", time_to_reach_queue=3600, negative_journaling=True)
    bench.switch_on()
    for again in range(1, 3):  # the second time nothing but the pause has changed
        bench.ask(PauseQueue(0, name))
        bench.ask(ResumeQueue(0, name))
        bench.advance(1000)
        found = link(bench, name)
        assert found.state is OutgoingState.NEED_VALIDATION
        assert [each.status for each in found.history] == again * [
            ConnectionStatus.IN_PROCESS,
            ConnectionStatus.ROUTING_DATA_NOT_AVAILABLE,
        ]  # one attempt, because another one would have no chance
    assert waiting(bench, name) == 1
    bench.advance(2000)
    assert waiting(bench, name) == 0
    assert bench.bodies("system$;deadletter") == [b"a"]
    assert bench.dials == []


@pytest.mark.spec("QB-171", "QB-172")
def test_an_acknowledgement_for_an_unknown_manager_waits_until_its_session_is_there() -> None:
    bench = MqqbBench()
    admin = f"PRIVATE={STRANGER}\\0000000a"
    asks = (Acknowledgement.POS_ARRIVAL,)
    bench.accepted().user(b"a", administration_queue=admin, acknowledgements=asks)
    assert bench.dials == []
    assert link(bench, admin).state is OutgoingState.NEED_VALIDATION
    other = bench.accepted("10.0.0.9", STRANGER)
    assert [each.properties.message_class for each in other.messages] == [2]


@pytest.mark.mqqb("T-27")
def test_two_managers_that_call_each_other_at_once_double_nothing() -> None:
    pair = Pair()
    pair.left.send(f"DIRECT=TCP:{RIGHT}\\private$\\orders", b"to right")
    pair.right.send(f"DIRECT=TCP:{LEFT}\\private$\\orders", b"to left")
    pair.run()
    pair.advance(1)
    assert pair.right.bodies("orders") == [b"to right"]
    assert pair.left.bodies("orders") == [b"to left"]


@pytest.mark.mqqb("T-28")
@pytest.mark.spec("QB-008")
def test_no_ping_is_sent_unless_the_settings_ask_for_it() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, b"a")
    assert bench.dials[-1].ping == b""


@pytest.mark.mqqb("T-29")
@pytest.mark.spec("QB-176", "QB-177", "QB-302", "QB-310", "QB-100", "QB-165")
def test_a_ping_is_sent_first_and_not_on_a_retry() -> None:
    bench = MqqbBench(settings=MqqbSettings(ping=True))
    bench.send(ELSEWHERE, b"a")
    dial = bench.dials[-1]
    assert decode_ping(dial.ping) == Ping(1, bench.own, is_client=True)
    bench.handle(DialFailed(dial.session, Failure.TIMED_OUT, ping=True))
    assert link(bench).history[-1].status is ConnectionStatus.PING_FAILURE
    bench.advance(5.1)
    assert bench.dials[-1].ping == b""
    peer = bench.dialled()
    assert says_not_pinged(peer)
    peer.lose()  # with a message that waits for its acknowledgement
    bench.advance(5.1)
    assert bench.dials[-1].ping == b""


def says_not_pinged(peer: Peer) -> bool:
    """Return SE of the first packet that came to a peer: whether no ping was sent."""
    request = peer.got[0]
    assert isinstance(request, EstablishConnection)
    return bool(request.operating_system & 0x0100)


@pytest.mark.mqqb("T-29")
@pytest.mark.spec("QB-008", "QB-049", "QB-176")
@pytest.mark.parametrize("end", ["idle", "lost"])
def test_a_session_that_is_opened_for_a_new_message_begins_with_a_ping(end: str) -> None:
    bench = MqqbBench(settings=MqqbSettings(ping=True))
    bench.send(ELSEWHERE, b"a")
    peer = bench.dialled()
    assert not says_not_pinged(peer)
    peer.ack_all()
    if end == "idle":
        bench.advance(601)
    else:
        peer.lose()
        bench.advance(5.1)
    assert peer.is_closed
    bench.send(ELSEWHERE, b"b")
    assert decode_ping(bench.dials[-1].ping) == Ping(2, bench.own, is_client=True)
    assert not says_not_pinged(bench.dialled())


@pytest.mark.spec("QB-176", "QB-297")
def test_a_name_that_joined_the_session_of_an_address_is_not_retried() -> None:
    bench = MqqbBench(settings=MqqbSettings(ping=True))
    bench.send(ELSEWHERE, b"a")
    peer = bench.dialled()
    bench.send("DIRECT=OS:shop\\private$\\q", b"b")
    bench.handle(AddressesFound(bench.dials[-1].session, (peer.address,)))
    peer.ack_all()
    bench.advance(601)
    bench.send("DIRECT=OS:shop\\private$\\q", b"c")
    assert decode_ping(bench.dials[-1].ping) == Ping(3, bench.own, is_client=True)


@pytest.mark.mqqb("T-31")
@pytest.mark.spec("QB-085", "QB-087", "QB-313")
def test_a_response_counts_for_the_request_with_its_cookie() -> None:
    first, second = Ping(1, PEER).encode(), Ping(2, PEER).encode()
    answer = Ping(1, STRANGER).encode()
    assert response_to(first, answer) is True
    assert response_to(second, answer) is None
    assert response_to(first, Ping(1, STRANGER, refused=True).encode()) is False
    assert response_to(first, answer[:2] + b"XX" + answer[4:]) is None


@pytest.mark.spec("QB-088")
def test_pings_are_not_answered_by_default_and_rubbish_never_is() -> None:
    bench = MqqbBench()
    bench.handle(PingArrived("10.0.0.9", 1, Ping(1, PEER).encode()))
    loud = MqqbBench(settings=MqqbSettings(answer_pings=True))
    loud.handle(PingArrived("10.0.0.9", 1, b"rubbish"))
    assert not [each for each in bench.out + loud.out if isinstance(each, SendPing)]


def test_a_session_with_ourselves_is_refused_and_the_warning_says_why() -> None:
    bench = MqqbBench()
    bench.send("DIRECT=OS:alias\\private$\\q", b"a")
    peer = bench.answer_dial()
    peer.send(EstablishConnection(client=bench.own, server=bench.own, timestamp=1))
    assert peer.hung_up
    assert "this manager itself" in bench.warnings[-1].why
    call = bench.accept()
    call.send(EstablishConnection(client=bench.own, server=NO_GUID, timestamp=1))
    (answer,) = call.got
    assert isinstance(answer, EstablishConnection)
    assert answer.refused


def test_an_acknowledgement_packet_is_made_of_its_header() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    peer.user(b"a")
    bench.advance(0.6)
    assert isinstance(peer.got[-1], SessionAck)
