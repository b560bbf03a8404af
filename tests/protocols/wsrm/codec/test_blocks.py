"""Header blocks are written in the order of the schemas, with what a version of WS-RM can say."""

from __future__ import annotations

import pytest

from reliquary.protocols.wsrm.codec.blocks import (
    acknowledgement_block,
    pending_block,
    reference_text,
    sequence_block,
    to_blocks,
)
from reliquary.protocols.wsrm.codec.values import (
    Acknowledgement,
    Addressing,
    Reference,
    SequenceHeader,
    Version,
)

IN10, IN11 = Version.RM10, Version.RM11
FLOW = "http://schemas.microsoft.com/ws/2006/05/rm"
ROOM = f'<netrm:BufferRemaining xmlns:netrm="{FLOW}">7</netrm:BufferRemaining>'
NACKS = "<wsrm:Nack>3</wsrm:Nack><wsrm:Nack>4</wsrm:Nack>"


def range_of(lower: int, upper: int) -> str:
    return f'<wsrm:AcknowledgementRange Lower="{lower}" Upper="{upper}"/>'


@pytest.mark.spec("FC-005", "FC-007")
@pytest.mark.parametrize(
    ("version", "acknowledgement", "said"),
    [
        (IN10, Acknowledgement("i", buffer=7), f"{range_of(0, 0)}{ROOM}"),
        (IN11, Acknowledgement("i", buffer=7), f"<wsrm:None/>{ROOM}"),
        (IN11, Acknowledgement("i", final=True, buffer=7), f"<wsrm:None/><wsrm:Final/>{ROOM}"),
        (IN10, Acknowledgement("i", ((1, 2),), final=True), range_of(1, 2)),
        (
            IN11,
            Acknowledgement("i", ((1, 2), (4, 4)), nacks=(3,), final=True, buffer=7),
            f"{range_of(1, 2)}{range_of(4, 4)}<wsrm:Final/>{ROOM}",
        ),
        (IN10, Acknowledgement("i", nacks=(3, 4), buffer=7), f"{NACKS}{ROOM}"),
        (IN11, Acknowledgement("i", nacks=(3,), final=True), "<wsrm:None/><wsrm:Final/>"),
    ],
)  # fmt: skip
def test_an_acknowledgement_ends_with_its_room(
    version: Version, acknowledgement: Acknowledgement, said: str
) -> None:
    assert acknowledgement_block(acknowledgement, version) == (
        f"<wsrm:SequenceAcknowledgement><wsrm:Identifier>i</wsrm:Identifier>{said}</wsrm:SequenceAcknowledgement>"
    )


def test_only_1_0_marks_the_last_message() -> None:
    assert "<wsrm:LastMessage/>" in sequence_block(SequenceHeader("i", 1, last=True), IN10, "soap")
    assert "LastMessage" not in sequence_block(SequenceHeader("i", 1, last=True), IN11, "soap")
    assert "LastMessage" not in sequence_block(SequenceHeader("i", 1), IN10, "soap")


REFERENCE = Reference("http://a?b&c", b'<p:x xmlns:p="urn:p"/><y>1</y>', b"<z/>")


def test_reference_parameters_are_blocks_of_a_message_to_the_endpoint() -> None:
    blocks = to_blocks(REFERENCE, Addressing.WSA10, "soap")
    marked = (
        ' xmlns:wsaReference="http://www.w3.org/2005/08/addressing" wsaReference:IsReferenceParameter="true"'
    )
    assert blocks == (
        '<wsa:To soap:mustUnderstand="1">http://a?b&amp;c</wsa:To>'
        f'<z{marked}/><p:x{marked} xmlns:p="urn:p"/><y{marked}>1</y>'
    )
    old = to_blocks(REFERENCE, Addressing.WSA2004, "soap")
    assert old.endswith('</wsa:To><z/><p:x xmlns:p="urn:p"/><y>1</y>')


def test_a_reference_has_the_children_of_its_version() -> None:
    address = "<wsa:Address>http://a?b&amp;c</wsa:Address>"
    assert reference_text(REFERENCE, Addressing.WSA2004) == (
        f"{address}<wsa:ReferenceProperties><z/></wsa:ReferenceProperties>"
        '<wsa:ReferenceParameters><p:x xmlns:p="urn:p"/><y>1</y></wsa:ReferenceParameters>'
    )
    assert reference_text(REFERENCE, Addressing.WSA10) == (
        f'{address}<wsa:ReferenceParameters><z/><p:x xmlns:p="urn:p"/><y>1</y></wsa:ReferenceParameters>'
    )


def test_messages_that_wait_are_announced() -> None:
    assert 'pending="true"' in pending_block(True)
    assert 'pending="false"' in pending_block(False)
