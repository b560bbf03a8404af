"""Scenes T-86, T-87 and T-90 of MQQB: administration acknowledgements and reports of traced messages."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

import pytest
from cryptography.hazmat.primitives.asymmetric import rsa
from msgspec.structs import replace

from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.protocols.mqqb.state import SILENT_CLASSES
from reliquary.queueing.model.events import PurgeQueue
from reliquary.queueing.model.message import (
    Acknowledgement,
    AdministrationKind,
    AuthenticationLevel,
    Delivery,
    Message,
    MessagePrivacy,
)
from reliquary.queueing.model.names.formats import parse_single
from reliquary.queueing.packets.messages import read
from reliquary.queueing.packets.signing import sign
from reliquary.wire.packet.user_message import UserMessage
from reliquary.wire.security import SecurityDescriptor, encode_descriptor
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, PEER, MqqbBench, Peer
from tests.queueing.packets.test_signing import Signer

ADMIN = "DIRECT=TCP:10.0.0.1\\private$\\admin"
NACKS = (Acknowledgement.NEG_ARRIVAL,)
THIRD = UUID("11111111-2222-3333-4444-555555555555")
HERE = "TCP:10.0.0.2\\private$\\"


# -- the five classes that tell about rights and keys


def to_nowhere(peer: Peer, **options: Any) -> UserMessage:
    """Return a message to a queue that does not exist."""
    return peer.made(b"m", to=f"{HERE}nowhere", **options)


def to_closed(peer: Peer, **options: Any) -> UserMessage:
    """Return a message to a queue that takes no messages."""
    peer.bench.create("closed", transactional="stream" in options, security=TAKES_NONE)
    return peer.made(b"m", to=f"{HERE}closed", **options)


def forged(peer: Peer, **options: Any) -> UserMessage:
    """Return a message whose body is not the one that was signed."""
    signer = Signer(rsa.generate_private_key(65537, 1024))
    packet = sign(peer.made(b"m", **options), AuthenticationLevel.SIG20, signer.key, signer.certificate)
    return replace(packet, properties=replace(packet.properties, body=b"forged"))


def encrypted(peer: Peer, **options: Any) -> UserMessage:
    """Return a message whose body is encrypted."""
    return peer.made(b"m", privacy=MessagePrivacy.ADVANCED, symmetric_key=b"k" * 256, **options)


TAKES_NONE = encode_descriptor(SecurityDescriptor(dacl=()))
REFUSED: dict[int, Callable[..., UserMessage]] = {
    0x8000: to_nowhere,
    0x8004: to_closed,
    0x8006: forged,
    0x8007: encrypted,
}
"""How a message is refused with each class; the fifth one, 0x800B, is never the reason here."""


def test_the_four_and_an_unsupported_provider_are_the_classes_that_are_kept_silent() -> None:
    assert sorted(int(each) for each in SILENT_CLASSES) == [*REFUSED, 0x800B]


@pytest.mark.mqqb("T-86")
@pytest.mark.spec("QB-101", "QB-317")
@pytest.mark.parametrize("insecure", [False, True])
@pytest.mark.parametrize("refusal", REFUSED, ids=hex)
def test_refusals_that_help_an_attacker_are_acknowledged_only_if_the_settings_allow_it(
    refusal: int, insecure: bool
) -> None:
    bench = MqqbBench(settings=MqqbSettings(insecure_nacks=insecure))
    peer = bench.accepted()
    peer.send(REFUSED[refusal](peer, administration_queue=ADMIN, acknowledgements=NACKS))
    assert len(bench.dials) == insecure
    if insecure:
        assert [each.properties.message_class for each in bench.dialled().messages] == [refusal]
    sender = MqqbBench(settings=MqqbSettings(insecure_nacks=insecure)).accepted()
    sender.send(REFUSED[refusal](sender, stream=(1, 0)))
    assert [each.message_class for each in sender.final_acks] == [refusal]  # in both cases (G-63)


# -- administration acknowledgements by the form of their queue's name

FORMS: dict[AdministrationKind, str] = {
    AdministrationKind.PRIVATE_ON_SOURCE: f"PRIVATE={PEER}\\A",
    AdministrationKind.PRIVATE_ON_DESTINATION: "PRIVATE={own}\\{private:x}",
    AdministrationKind.PUBLIC: "PUBLIC={public}",
    AdministrationKind.PRIVATE_ON_OTHER: f"PRIVATE={THIRD}\\B",
    AdministrationKind.DIRECT: ADMIN,
}
"""A name for each value of AQ: 2, 3, 5, 6 and 7."""
ALL = (
    Acknowledgement.POS_ARRIVAL,
    Acknowledgement.POS_RECEIVE,
    Acknowledgement.NEG_ARRIVAL,
    Acknowledgement.NEG_RECEIVE,
)


def acknowledged(bench: MqqbBench, peer: Peer, kind: AdministrationKind) -> list[Message]:
    """Return the acknowledgements that came to the administration queue; check its name in the packets."""
    match kind:
        case AdministrationKind.PRIVATE_ON_DESTINATION:
            return [each.message for each in bench.receive("admin", count=100).messages]
        case AdministrationKind.PUBLIC:
            return [each.message for each in bench.receive(".\\admin", count=100).messages]
        case AdministrationKind.PRIVATE_ON_OTHER:
            peer = bench.accepted("10.0.0.9", THIRD)
        case AdministrationKind.DIRECT:
            peer = bench.dialled()
        case _:
            pass
    found = [each for each in peer.messages if each.properties.message_class]
    names = {parse_single(read(each).destination_queue) for each in found}
    assert names == {parse_single(FORMS[kind])}
    return [read(each) for each in found]


@pytest.mark.mqqb("T-87")
@pytest.mark.spec("QB-269", "QB-306", "QB-307")
@pytest.mark.parametrize("kind", FORMS, ids=lambda each: each.value)
@pytest.mark.parametrize("express", [False, True])
def test_acknowledgements_go_to_the_named_queue_and_are_delivered_like_their_message(
    kind: AdministrationKind, express: bool
) -> None:
    bench = MqqbBench()
    bench.create("admin")
    bench.create(".\\admin")
    bench.create("tiny", quota=1)
    own = bench.state.identity().identifier
    name = FORMS[kind].format(
        own=own,
        private=bench.queue("admin").number,
        public=bench.queue(".\\admin").record.identifier,
    )
    peer = bench.accepted(window=1000)

    def send(body: bytes, queue: str) -> None:
        packet = peer.made(
            body,
            to=f"PRIVATE={own}\\{bench.queue(queue).number:08x}",
            administration_queue=name,
            administration_kind=kind,
            acknowledgements=ALL,
            express=express,
        )
        assert read(packet).administration_kind is kind
        peer.send(packet)

    send(b"read", "orders")
    bench.receive("orders")
    send(b"purged", "orders")
    bench.ask(PurgeQueue(0, "orders"))
    send(bytes(2000), "tiny")
    acks = acknowledged(bench, peer, kind)
    assert [(each.message_class, each.body) for each in acks] == [
        (0x0002, b""),
        (0x4000, b""),
        (0x0002, b""),
        (0xC001, b"purged"),
        (0x8003, bytes(2000)),
    ]
    assert {each.delivery for each in acks} == {Delivery.EXPRESS if express else Delivery.RECOVERABLE}
    assert [each.correlation.uniquifier for each in acks] == [1, 1, 2, 2, 3]
    assert {each.correlation.lineage for each in acks} == {PEER}


@pytest.mark.mqqb("T-87")
@pytest.mark.spec("QB-318")
def test_an_acknowledgement_to_a_name_that_cannot_be_opened_is_discarded() -> None:
    bench = MqqbBench()
    peer = bench.accepted()
    peer.user(b"a", administration_queue=f"PUBLIC={THIRD}", acknowledgements=(Acknowledgement.POS_ARRIVAL,))
    assert bench.bodies("orders") == [b"a"]
    assert list(bench.state.names.outgoing) == []
    assert bench.dials == []


# -- reports


@pytest.mark.mqqb("T-90")
@pytest.mark.spec("QB-268", "QB-294")
def test_the_reports_of_a_traced_message_say_where_it_is() -> None:
    bench = MqqbBench()
    bench.create(".\\traces")
    traces = bench.queue(".\\traces").record.identifier
    peer = bench.accepted()
    peer.user(b"a", tracing_requested=True, tracing_queue=traces)
    bench.send(ELSEWHERE, b"b", tracing_requested=True, tracing_queue=traces)
    there = bench.dialled()
    assert there.messages[-1].debug is not None
    there.ack_all()
    received, sent = (each.message for each in bench.receive(".\\traces", count=10).messages)
    assert {each.message_class for each in (received, sent)} == {1}
    assert {each.delivery for each in (received, sent)} == {Delivery.EXPRESS}
    assert " received by " in received.label
    assert " sent by " in sent.label
    assert str(bench.own) in received.label
    assert "<NEXT HOP>" not in received.body.decode("utf-16-le")
    assert f"<NEXT HOP>{ELSEWHERE}</NEXT HOP>" in sent.body.decode("utf-16-le")


@pytest.mark.mqqb("T-90")
@pytest.mark.spec("QB-268")
def test_a_traced_message_whose_reports_have_no_queue_arrives_without_them() -> None:
    bench = MqqbBench()
    bench.accepted().user(b"a", tracing_requested=True, tracing_queue=THIRD)
    assert bench.bodies("orders") == [b"a"]
    assert list(bench.state.names.outgoing) == []
    assert bench.dials == []
