"""Scenes T-80 to T-94 of MQQB: names, refusals and pauses (and `test_reports.py`, `test_together.py`)."""

from __future__ import annotations

import random
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from msgspec.structs import replace

from reliquary.base.restoration import Restoration
from reliquary.protocols.mqqb.codec.packets import decode_packet
from reliquary.protocols.mqqb.effects import SendPackets
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.protocols.mqqb.state import Count
from reliquary.queueing.model.directory.integration import Integration
from reliquary.queueing.model.directory.objects import ManagerObject, QueueObject
from reliquary.queueing.model.events import BringOnline, PauseQueue, ResumeQueue, TakeOffline
from reliquary.queueing.model.message import (
    FOREVER,
    NO_GUID,
    Acknowledgement,
    AuthenticationLevel,
    MessagePrivacy,
)
from reliquary.queueing.model.security.principals import ANONYMOUS_USER
from reliquary.queueing.model.security.rights import QueueRight
from reliquary.queueing.model.travel.link import OutgoingState
from reliquary.queueing.packets.signing import sign
from reliquary.wire.packet.internal import EstablishConnection
from reliquary.wire.security import (
    Ace,
    AceKind,
    SecurityDescriptor,
    encode_descriptor,
    encode_sid,
    parse_sid,
)
from tests.protocols.mqqb.mqqb_harness import (
    ADDRESS,
    ELSEWHERE,
    ORDERS,
    PEER,
    PEER_ADDRESS,
    MqqbBench,
    link,
    waiting,
)
from tests.protocols.mqqb.pair import LEFT, RIGHT, Pair
from tests.queueing.directory.harness import add
from tests.queueing.packets.test_signing import LEVELS, Signer
from tests.queueing.state_checks import walk

ADMIN = "DIRECT=TCP:10.0.0.1\\private$\\admin"
NACKS = (Acknowledgement.NEG_ARRIVAL,)
STRANGER = UUID("11111111-2222-3333-4444-555555555555")
OTHERS, UNKNOWN = UUID(int=0xA1), UUID(int=0xA2)
"""A public queue of the stranger, and a queue that the directory does not know."""


def reported(bench: MqqbBench) -> list[int]:
    """Return the classes of administration acknowledgements that the bench wants to send."""
    if not bench.dials:
        return []
    peer = bench.dialled()
    return [each.properties.message_class for each in peer.messages]


@pytest.mark.mqqb("T-80", "G-24", "G-25")
@pytest.mark.spec("QB-258", "QB-263")
@pytest.mark.parametrize(
    ("name", "taken"),
    [
        ("TCP:203.0.113.9\\private$\\orders", True),
        ("OS:alias\\private$\\orders", True),
        ("OS:x\\private$\\none", False),
        ("OS:x\\private$\\orders;JOURNAL", False),
        ("OS:x\\private$\\orders;sub", False),
        ("OS:x\\SYSTEM$;DEADXACT", False),
        ("http://x/msmq/private$/orders", False),
    ],
)
def test_the_host_in_a_name_that_arrived_is_ignored_and_the_path_counts(name: str, taken: bool) -> None:
    bench = MqqbBench(settings=MqqbSettings(insecure_nacks=True))
    peer = bench.accepted()
    peer.user(b"a", to=name, administration_queue=ADMIN, acknowledgements=NACKS)
    assert bench.bodies("orders") == ([b"a"] if taken else [])
    assert reported(bench) == ([] if taken else [0x8000])
    bench.advance(0.6)
    assert peer.acks[-1].recoverable_set == 1  # refused or not, it is counted and acknowledged


@pytest.mark.mqqb("T-81", "G-20")
@pytest.mark.spec("QB-246")
def test_a_message_outside_transactions_is_refused_by_a_transactional_queue() -> None:
    bench = MqqbBench()
    bench.create("ledger", transactional=True)
    peer = bench.accepted()
    peer.user(b"a", to="TCP:10.0.0.2\\private$\\ledger", administration_queue=ADMIN, acknowledgements=NACKS)
    assert bench.bodies("ledger") == []
    assert reported(bench) == [0x800A]
    bench.advance(0.6)
    assert (peer.acks[-1].ack, peer.acks[-1].recoverable_set) == (1, 1)


@pytest.mark.mqqb("T-82", "G-64")
@pytest.mark.spec("QB-256", "QB-257")
@pytest.mark.parametrize("signed", [False, True])
def test_every_sender_is_anonymous_despite_the_identity_in_its_packet(signed: bool) -> None:
    bench = MqqbBench(settings=MqqbSettings(insecure_nacks=True))
    claimed = parse_sid("S-1-5-21-1-2-3-1000")
    for name, writer, expected in (("theirs", claimed, []), ("open", ANONYMOUS_USER, [b"a"])):
        writers = SecurityDescriptor(dacl=(Ace(AceKind.ALLOWED, QueueRight.WRITE_MESSAGE, writer),))
        bench.create(name, security=encode_descriptor(writers))
        peer = bench.accepted()
        packet = peer.made(
            b"a", to=f"TCP:10.0.0.2\\private$\\{name}", sender=encode_sid(claimed),
            administration_queue=ADMIN, acknowledgements=NACKS,
        )  # fmt: skip
        if signed:
            signer = Signer(rsa.generate_private_key(65537, 1024))
            packet = sign(packet, AuthenticationLevel.SIG20, signer.key, signer.certificate)
        assert packet.security is not None
        assert packet.security.sender == encode_sid(claimed)
        peer.send(packet)
        assert bench.bodies(name) == expected
    assert reported(bench) == [0x8004]


@pytest.mark.mqqb("T-83")
@pytest.mark.spec("QB-248", "QB-249", "QB-250", "QB-251", "QB-286")
@pytest.mark.parametrize("level", LEVELS, ids=lambda level: level.value)
def test_signatures_are_verified_and_a_wrong_one_is_refused(level: AuthenticationLevel) -> None:
    bench = MqqbBench(settings=MqqbSettings(insecure_nacks=True))
    peer = bench.accepted()
    signer = Signer(rsa.generate_private_key(65537, 2048))
    several = (f"DIRECT={ORDERS}", "DIRECT=OS:x\\y") if level is AuthenticationLevel.SIG30 else ()
    plain = peer.made(
        b"signed", destination_queues=several, administration_queue=ADMIN, acknowledgements=NACKS
    )
    signed = sign(plain, level, signer.key, signer.certificate)
    peer.send(signed)
    assert bench.bodies("orders") == [b"signed"]
    position = bench.queue("orders").order.first()
    assert position is not None
    assert bench.state.messages.get(position).authentication is level
    forged = replace(signed.properties, body=b"forged")
    peer.send(replace(signed, properties=forged, user=replace(signed.user, message_id=77)))
    assert bench.bodies("orders") == [b"signed"]
    assert reported(bench) == [0x8006]


@pytest.mark.mqqb("T-84")
@pytest.mark.spec("QB-148", "QB-252", "QB-253", "QB-254", "QB-255", "QB-304")
@pytest.mark.parametrize("privacy", [each for each in MessagePrivacy if each is not MessagePrivacy.NONE])
def test_an_encrypted_body_is_refused_because_no_key_of_this_manager_is_published(
    privacy: MessagePrivacy,
) -> None:
    bench = MqqbBench(settings=MqqbSettings(insecure_nacks=True))
    peer = bench.accepted()
    peer.user(
        b"secret",
        privacy=privacy,
        symmetric_key=b"k" * 256,
        administration_queue=ADMIN,
        acknowledgements=NACKS,
    )
    assert bench.bodies("orders") == []
    assert reported(bench) == [0x8007]


@pytest.mark.mqqb("T-85")
@pytest.mark.spec("QB-163", "QB-287", "QB-288", "QB-289", "QB-290", "QB-291", "QB-305")
def test_encryption_for_a_direct_name_is_refused_at_the_send() -> None:
    bench = MqqbBench()
    answer = bench.send(ELSEWHERE, b"a", privacy=MessagePrivacy.ADVANCED)
    assert "no body is encrypted on its way" in answer.why
    assert waiting(bench) == 0


@pytest.mark.mqqb("T-85")
@pytest.mark.spec("QB-287", "QB-290", "QB-291")
@pytest.mark.parametrize("in_stream", [False, True])
def test_a_message_to_encrypt_that_waited_from_before_never_leaves_in_clear_text(in_stream: bool) -> None:
    bench = MqqbBench(settings=None)
    send = bench.transact if in_stream else bench.send
    send(ELSEWHERE, b"1")
    send(ELSEWHERE, b"secret", privacy=MessagePrivacy.ADVANCED, negative_journaling=True)
    send(ELSEWHERE, b"3")
    bench.switch_on()
    bench.ask(ResumeQueue(0, ELSEWHERE))
    peer = bench.dialled()
    assert peer.bodies == [b"1", b"3"]
    assert bench.bodies("system$;deadxact" if in_stream else "system$;deadletter") == [b"secret"]
    assert "no body is encrypted on its way" in bench.warnings[-1].why
    assert link(bench).refused == 1


@pytest.mark.mqqb("T-88")
@pytest.mark.spec("QB-028", "QB-270")
def test_messages_of_any_class_are_stored() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    for number in (2, 0x4000, 0x8002, 0x0123):
        peer.user(b"%d" % number, message_class=number)
    found = [bench.receive("orders").messages[0].message.message_class for _ in range(4)]
    assert found == [2, 0x4000, 0x8002, 0x0123]


@pytest.mark.mqqb("T-89")
@pytest.mark.spec("QB-123", "QB-124", "QB-125", "QB-247", "QB-267")
def test_a_packet_for_another_manager_is_refused_because_nothing_is_routed() -> None:
    bench = MqqbBench(settings=MqqbSettings(insecure_nacks=True))
    peer = bench.accepted()
    to = f"PRIVATE={STRANGER}\\0000000a"
    peer.user(b"a", to=to, administration_queue=ADMIN, acknowledgements=NACKS)
    peer.user(b"b", to=to, administration_queue=ADMIN, acknowledgements=NACKS, stream=(1, 0))
    assert reported(bench) == [0x8000, 0x8000]
    assert bench.bodies("orders") == []
    assert not [each for each in bench.state.names.outgoing if str(STRANGER) in str(each)]


@pytest.mark.mqqb("T-80", "T-89")
@pytest.mark.spec("QB-258", "QB-267")
@pytest.mark.parametrize("count", [1, 3], ids=["alone", "in one piece"])
def test_a_public_name_is_taken_for_a_queue_here_and_refused_for_one_elsewhere(count: int) -> None:
    bench = MqqbBench(settings=MqqbSettings(insecure_nacks=True), directory=Integration())
    own = bench.queue("orders").record.identifier
    add(bench, ManagerObject(identifier=STRANGER, computer_name="OTHER"))
    add(bench, QueueObject(identifier=OTHERS, queue_manager=STRANGER, pathname="OTHER\\sales"))
    peer = bench.accepted()
    for name in (f"PUBLIC={own}", f"PUBLIC={OTHERS}", f"PUBLIC={UNKNOWN}"):
        packets = [
            peer.made(b"a", to=name, administration_queue=ADMIN, acknowledgements=NACKS) for _ in range(count)
        ]
        peer.send(*packets)
    assert bench.bodies("orders") == [b"a"] * count
    assert reported(bench) == [0x8000] * 2 * count
    assert not [each for each in bench.state.names.outgoing if str(OTHERS) in str(each)]
    bench.advance(0.6)
    assert peer.acks[-1].ack == 3 * count


@pytest.mark.mqqb("T-91")
@pytest.mark.spec("QB-271", "QB-315", "QB-316")
def test_a_paused_queue_sends_nothing_and_its_acknowledgements_go_on() -> None:
    bench = MqqbBench()
    bench.send(ELSEWHERE, *(b"%d" % number for number in range(10)))
    peer = bench.dialled(window=4)
    bench.ask(PauseQueue(0, ELSEWHERE))
    assert link(bench).state is OutgoingState.ON_HOLD
    peer.ack(4, first=1, bits=0b1111, window=4)
    assert waiting(bench) == 6
    assert len(peer.bodies) == 4
    peer.user(b"x")
    bench.advance(0.6)
    assert peer.acks[-1].window == 64  # the true window (G-53)
    bench.ask(ResumeQueue(0, ELSEWHERE))
    peer.ack(8, first=5, bits=0b1111, window=4)
    peer.ack(10, first=9, bits=0b11, window=4)
    assert peer.bodies == [b"%d" % number for number in range(10)]
    assert waiting(bench) == 0


@pytest.mark.mqqb("T-91")
@pytest.mark.spec("QB-315", "QB-316")
@pytest.mark.parametrize("in_stream", [False, True])
def test_a_queue_that_was_paused_goes_on_in_its_order_between_messages_of_another_queue(
    in_stream: bool,
) -> None:
    bench = MqqbBench()
    send = bench.transact if in_stream else bench.send
    other = f"DIRECT=TCP:{PEER_ADDRESS}\\private$\\other"
    send(ELSEWHERE, *(b"a%d" % number for number in range(6)))
    peer = bench.dialled(window=4)
    bench.send(other, *(b"b%d" % number for number in range(8)))
    send(ELSEWHERE, *(b"a%d" % number for number in range(6, 10)))
    bench.ask(PauseQueue(0, ELSEWHERE))
    peer.ack(4, first=1, bits=0b1111, window=4)
    assert peer.bodies == [b"a0", b"a1", b"a2", b"a3", b"b0", b"b1", b"b2", b"b3"]
    bench.ask(ResumeQueue(0, ELSEWHERE))
    for count in (8, 12, 16, 18):
        peer.ack(count, first=1, bits=(1 << count) - 1, window=4)
    assert [body for body in peer.bodies if body.startswith(b"a")] == [b"a%d" % n for n in range(10)]
    assert [body for body in peer.bodies if body.startswith(b"b")] == [b"b%d" % n for n in range(8)]


@pytest.mark.mqqb("T-91")
def test_hardened_security_locks_these_queues() -> None:
    bench = MqqbBench(hardened=True)
    bench.send(ELSEWHERE, b"a")
    assert link(bench).state is OutgoingState.LOCKED
    assert bench.dials == []


@pytest.mark.mqqb("T-93")
def test_a_name_with_an_address_of_this_manager_is_here() -> None:
    bench = MqqbBench()
    for name in (f"DIRECT=TCP:{ADDRESS}\\private$\\orders", "DIRECT=OS:bench.example\\private$\\orders"):
        bench.send(name, b"a")
    assert bench.bodies("orders") == [b"a", b"a"]
    assert bench.dials == []


@pytest.mark.mqqb("T-94")
@pytest.mark.parametrize("seed", range(4))
def test_messages_in_both_directions_at_once_arrive_once_and_in_order(seed: int) -> None:
    chance = random.Random(seed)
    pair = Pair()
    names = {}
    for address, site in pair.sites.items():
        site.create("ledger", transactional=True)
        site.flush()
        names[address] = f"DIRECT=TCP:{address}\\private$\\ledger"
    for number in range(30):
        pair.left.transact(names[RIGHT], b"%d" % number, negative_journaling=chance.random() < 0.5)
        pair.right.transact(names[LEFT], b"%d" % number)
    for _ in range(6):
        pair.budget = chance.randint(50, 20_000)
        pair.run()
        pair.advance(6)
    pair.budget = None
    pair.cut()
    pair.advance(40)
    expected = [b"%d" % number for number in range(30)]
    assert pair.left.bodies("ledger") == expected
    assert pair.right.bodies("ledger") == expected
    for _ in range(30):
        pair.right.receive("ledger")
    pair.advance(2)
    assert waiting(pair.left, names[RIGHT]) == 0


def test_a_manager_that_is_offline_closes_its_sessions_and_accepts_none() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    bench.ask(TakeOffline(0))
    assert peer.hung_up
    call = bench.accept()
    call.send(EstablishConnection(client=PEER, server=NO_GUID, timestamp=1))
    (answer,) = call.got
    assert isinstance(answer, EstablishConnection)
    assert answer.refused
    bench.ask(BringOnline(0))
    assert not bench.accepted().is_closed


def test_malformed_packets_close_the_session_and_are_counted() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    good = peer.made(b"a").encode()
    peer.send(good[:60] + b"\xff\xff\xff\xff" + good[64:])
    assert peer.hung_up
    assert bench.mqqb.counts[Count.MALFORMED] == 1
    assert bench.bodies("orders") == []


def test_something_else_for_the_order_queue_is_dropped_but_counted() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    peer.user(b"not an acknowledgement", to="TCP:10.0.0.2\\PRIVATE$\\order_queue$")
    bench.advance(0.6)
    assert peer.acks[-1].ack == 1
    assert bench.mqqb.counts[Count.STRANGE_ACKS] == 1
    answer = bench.send("DIRECT=TCP:10.0.0.1\\private$\\order_queue$", b"x")
    assert "acknowledgements of queue managers only" in answer.why


def test_messages_from_before_wait_until_their_queue_is_resumed() -> None:
    bench = MqqbBench(settings=None)
    bench.send(ELSEWHERE, b"old", b"older")
    bench.send("DIRECT=OS:empty\\private$\\q", b"gone", time_to_reach_queue=1)
    bench.advance(61)
    bench.switch_on()
    assert bench.dials == []
    assert link(bench).state is OutgoingState.ON_HOLD
    warnings = [each for each in bench.warnings if "administrator resumes" in each.what]
    assert len(warnings) == 1
    assert "1 outgoing queues have 2 messages" in warnings[0].why
    bench.send("DIRECT=OS:other\\private$\\q", b"new")
    assert [each.host for each in bench.dials] == ["other"]
    bench.restart()
    assert len([each for each in bench.warnings if "administrator resumes" in each.what]) == 1
    bench.ask(ResumeQueue(0, ELSEWHERE))
    assert bench.dialled().bodies == [b"old", b"older"]


def test_a_restored_receiver_goes_on_after_numbers_that_will_never_come() -> None:
    bench = MqqbBench()
    bench.create("ledger", transactional=True)
    ledger = "TCP:10.0.0.2\\private$\\ledger"
    bench.accepted().user(b"1", to=ledger, stream=(1, 0))
    bench.restoration = Restoration(STRANGER, alive_until=bench.now)
    bench.advance(2)
    bench.restart()
    for _ in range(3):
        peer = bench.accepted()
        peer.user(b"5", to=ledger, stream=(5, 4))
        bench.advance(30)
    assert bench.bodies("ledger") == [b"1", b"5"]
    assert bench.mqqb.counts[Count.GAPS_CLOSED] == 1


def test_the_decoder_can_read_every_packet_that_leaves() -> None:
    pair = Pair()
    pair.left.send(f"DIRECT=TCP:{RIGHT}\\private$\\orders", b"a")
    pair.run()
    pair.advance(1)
    for site in pair.sites.values():
        for effect in site.out:
            if isinstance(effect, SendPackets):
                assert all(decode_packet(data) is not None for data in effect.packets)


@pytest.mark.mqqb("T-48")
@pytest.mark.parametrize("count", [1, 3], ids=["alone", "in one piece"])
def test_a_sender_whose_clock_is_far_ahead_is_logged_once_where_that_matters(count: int) -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    now = bench.now // 1_000_000
    for ahead, span in ((3_000, FOREVER), (60, 60), (3_000, 60)):
        assert bench.warnings == []
        for _ in range(2):
            packets = [peer.made(b"a", sent_time=now + ahead, time_to_reach_queue=span) for _ in range(count)]
            peer.send(*packets)
    (warning,) = bench.warnings
    assert (warning.about, warning.what) == (PEER_ADDRESS, "the clock of a peer is ahead")
    assert len(bench.bodies("orders")) == 6 * count


@pytest.mark.mqqb("T-89")
def test_a_message_that_many_managers_passed_on_keeps_its_hop_count() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    for hops in (3, 16, 0x1D):
        packet = peer.made(b"a")
        peer.send(replace(packet, user=replace(packet.user, hops=hops)))
    found = [bench.state.messages.get(position).hops for position in walk(bench.queue("orders"))]
    assert found == [3, 16, 0x1D]
