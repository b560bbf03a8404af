"""Scenes T-80 to T-94 of MQQB: names, refusals, acknowledgements to applications, other protocols."""

from __future__ import annotations

import random
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from msgspec.structs import replace

from reliquary.base.restoration import Restoration
from reliquary.protocols.mqqb.codec.packets import decode_packet
from reliquary.protocols.mqqb.effects import SendPackets
from reliquary.protocols.mqqb.protocol import mqqb
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.protocols.mqqb.state import SILENT_CLASSES, Count
from reliquary.protocols.srmp.protocol import srmp
from reliquary.queueing.model.events import BringOnline, PauseQueue, ResumeQueue, TakeOffline
from reliquary.queueing.model.message import (
    NO_GUID,
    Acknowledgement,
    AuthenticationLevel,
    MessagePrivacy,
)
from reliquary.queueing.model.names.formats import parse_single
from reliquary.queueing.model.travel.carriers import Carriers
from reliquary.queueing.model.travel.link import OutgoingState
from reliquary.queueing.packets.signing import sign
from reliquary.queueing.travel.loopback import LOOPBACK
from reliquary.wire.packet.internal import EstablishConnection
from reliquary.wire.security import SecurityDescriptor, encode_descriptor
from tests.protocols.mqqb.mqqb_harness import (
    ADDRESS,
    ELSEWHERE,
    ORDERS,
    PEER,
    MqqbBench,
    link,
    waiting,
)
from tests.protocols.mqqb.pair import LEFT, RIGHT, Pair
from tests.queueing.packets.test_signing import LEVELS, Signer

ADMIN = "DIRECT=TCP:10.0.0.1\\private$\\admin"
NACKS = (Acknowledgement.NEG_ARRIVAL,)
STRANGER = UUID("11111111-2222-3333-4444-555555555555")


def reported(bench: MqqbBench) -> list[int]:
    """Return the classes of administration acknowledgements that the bench wants to send."""
    if not bench.dials:
        return []
    peer = bench.dialled()
    return [each.properties.message_class for each in peer.messages]


@pytest.mark.mqqb("T-80")
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


@pytest.mark.mqqb("T-81")
@pytest.mark.spec("QB-246")
def test_a_message_outside_transactions_is_refused_by_a_transactional_queue() -> None:
    bench = MqqbBench()
    bench.create("ledger", transactional=True)
    peer = bench.accepted()
    peer.user(b"a", to="TCP:10.0.0.2\\private$\\ledger", administration_queue=ADMIN, acknowledgements=NACKS)
    assert bench.bodies("ledger") == []
    assert reported(bench) == [0x800A]
    bench.advance(0.6)
    assert peer.acks[-1].ack == 1


@pytest.mark.mqqb("T-82")
@pytest.mark.spec("QB-256", "QB-257")
def test_every_sender_is_anonymous_whatever_identity_its_packet_claims() -> None:
    bench = MqqbBench(settings=MqqbSettings(insecure_nacks=True))
    bench.create("closed", security=encode_descriptor(SecurityDescriptor(dacl=())))
    peer = bench.accepted()
    sid = bytes.fromhex("010500000000000515000000ad4a9ebd36d9fa3d63a656dae8030000")
    peer.user(
        b"a", to="TCP:10.0.0.2\\private$\\closed", sender=sid, administration_queue=ADMIN,
        acknowledgements=NACKS,
    )  # fmt: skip
    assert bench.bodies("closed") == []
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
def test_an_encrypted_body_is_refused_because_no_key_of_this_manager_is_published() -> None:
    bench = MqqbBench(settings=MqqbSettings(insecure_nacks=True))
    peer = bench.accepted()
    peer.user(
        b"secret",
        privacy=MessagePrivacy.ADVANCED,
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


@pytest.mark.mqqb("T-86")
@pytest.mark.spec("QB-101", "QB-317")
def test_five_refusals_are_acknowledged_only_if_the_settings_allow_it() -> None:
    assert sorted(int(each) for each in SILENT_CLASSES) == [0x8000, 0x8004, 0x8006, 0x8007, 0x800B]
    nowhere = "TCP:10.0.0.2\\private$\\nowhere"
    for insecure, expected in ((False, []), (True, [0x8000])):
        bench = MqqbBench(settings=MqqbSettings(insecure_nacks=insecure))
        peer = bench.accepted()
        peer.user(b"a", to=nowhere, administration_queue=ADMIN, acknowledgements=NACKS)
        assert reported(bench) == expected
        other = MqqbBench(settings=MqqbSettings(insecure_nacks=insecure)).accepted()
        other.user(b"t", to=nowhere, stream=(1, 0))
        assert [each.message_class for each in other.final_acks] == [0x8000]  # in both cases (G-63)


@pytest.mark.mqqb("T-87")
@pytest.mark.spec("QB-269", "QB-306", "QB-307", "QB-318")
@pytest.mark.parametrize(
    "admin", [ADMIN, f"PRIVATE={PEER}\\0000000a"], ids=["direct", "private of the source"]
)
def test_administration_acknowledgements_go_to_the_name_in_the_packet(admin: str) -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    peer.user(
        b"a", administration_queue=admin,
        acknowledgements=(Acknowledgement.POS_ARRIVAL, Acknowledgement.POS_RECEIVE),
    )  # fmt: skip
    bench.receive("orders")
    back = bench.dialled() if bench.dials else peer
    acks = [each for each in back.messages if each.properties.message_class in (2, 0x4000)]
    assert [each.properties.message_class for each in acks] == [2, 0x4000]
    assert all(each.user.recoverable for each in acks)
    correlation = PEER.bytes_le + (1).to_bytes(4, "little")
    assert {each.properties.correlation for each in acks} == {correlation}


@pytest.mark.mqqb("T-87")
@pytest.mark.spec("QB-318")
def test_an_acknowledgement_to_a_name_that_cannot_be_opened_is_discarded() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    peer.user(
        b"a", administration_queue=f"PUBLIC={STRANGER}", acknowledgements=(Acknowledgement.POS_ARRIVAL,)
    )
    assert bench.bodies("orders") == [b"a"]
    assert bench.dials == []


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


@pytest.mark.mqqb("T-90")
@pytest.mark.spec("QB-268", "QB-294")
def test_a_traced_message_leads_to_reports() -> None:
    bench = MqqbBench()
    bench.create(".\\traces")
    traces = bench.queue(".\\traces").record.identifier
    bench.accepted().user(b"a", tracing_requested=True, tracing_queue=traces)
    assert bench.bodies("orders") == [b"a"]
    assert len(bench.bodies(".\\traces")) == 1
    bench.send(ELSEWHERE, b"b", tracing_requested=True, tracing_queue=traces)
    bench.dialled().ack_all()
    assert len(bench.bodies(".\\traces")) == 2


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
def test_hardened_security_locks_these_queues() -> None:
    bench = MqqbBench(hardened=True)
    bench.send(ELSEWHERE, b"a")
    assert link(bench).state is OutgoingState.LOCKED
    assert bench.dials == []


@pytest.mark.mqqb("T-92")
def test_each_protocol_has_its_own_names_and_its_own_receipts() -> None:
    binary, web = mqqb(MqqbSettings()).carrier, srmp().carrier
    assert binary is not None
    assert web is not None
    assert LOOPBACK.carrier is not None
    carriers = Carriers([LOOPBACK.carrier, web, binary])
    for name, carrier in (
        ("DIRECT=OS:loopback\\private$\\orders", LOOPBACK.carrier),
        ("DIRECT=OS:shop\\private$\\orders", binary),
        ("DIRECT=TCP:fe80::1\\orders", binary),
        ("DIRECT=HTTP://shop/msmq/orders", web),
    ):
        assert carriers.of(parse_single(name)) is carrier
    bench = MqqbBench()
    bench.create("ledger", transactional=True)
    bench.accepted().user(b"1", to="TCP:10.0.0.2\\private$\\ledger", stream=(1, 0), negative_journaling=True)
    position = bench.queue("ledger").order.first()
    assert position is not None
    assert carriers.brought(bench.state.messages.get(position)) is binary


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


def test_all_that_leaves_can_be_read_by_the_decoder() -> None:
    pair = Pair()
    pair.left.send(f"DIRECT=TCP:{RIGHT}\\private$\\orders", b"a")
    pair.run()
    pair.advance(1)
    for site in pair.sites.values():
        for effect in site.out:
            if isinstance(effect, SendPackets):
                assert all(decode_packet(data) is not None for data in effect.packets)
