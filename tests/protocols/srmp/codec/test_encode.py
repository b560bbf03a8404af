"""Envelopes are written as they are printed, and messages as envelopes."""

from __future__ import annotations

import msgspec
import pytest

from reliquary.protocols.srmp.codec.decode import decode_envelope
from reliquary.protocols.srmp.codec.encode import write
from tests.protocols.srmp.codec.envelopes import FIRST, FOURTH, changed, without
from tests.protocols.srmp.codec.vector import VECTORS


@pytest.mark.spec("SR-014", "SR-272", "SR-282", "SR-289")
@pytest.mark.parametrize("name", VECTORS)
def test_what_was_read_is_written_to_equal_bytes(name: str) -> None:
    vector = VECTORS[name]
    assert write(decode_envelope(vector.envelope)) == vector.envelope


@pytest.mark.spec("SR-074", "SR-280")
def test_only_the_first_message_of_a_stream_goes_without_previous() -> None:
    assert "<previous>" not in write(decode_envelope(FIRST))
    unsaid = write(decode_envelope(without(FOURTH, "previous")))
    assert unsaid == changed(FOURTH, ("<previous>2", "<previous>3"))
    none = write(decode_envelope(changed(FOURTH, ("<previous>2", "<previous>0"))))
    assert "<current>4</current><previous>0</previous>" in none


def test_a_stream_is_spelled_as_the_settings_say() -> None:
    envelope = decode_envelope(FIRST)
    capital = write(envelope, capital_stream=True)
    assert capital == changed(FIRST, ("<stream ", "<Stream "), ("</stream>", "</Stream>"))
    assert decode_envelope(capital) == envelope


def test_the_first_unconfirmed_message_says_so_in_a_block_of_our_own() -> None:
    envelope = decode_envelope(FOURTH)
    assert envelope.stream is not None
    place = msgspec.structs.replace(envelope.stream, unconfirmed_to="http://a.example/?a&b")
    envelope = msgspec.structs.replace(envelope, stream=place)
    written = write(envelope)
    assert "a.example/?a&amp;b</sendReceiptsTo></unconfirmed>" in written
    assert decode_envelope(written) == envelope


@pytest.mark.spec("SR-286")
def test_a_signature_is_the_last_block_and_stands_there_as_it_is_given() -> None:
    unsigned = msgspec.structs.replace(decode_envelope(FIRST), signature="")
    signed = msgspec.structs.replace(unsigned, signature="<Signature xmlns='urn:x'> </Signature>")
    assert "</Msmq><Signature xmlns='urn:x'> </Signature></se:Header>" in write(signed)
    assert write(signed).replace(signed.signature, "") == write(unsigned)


def test_more_blocks_stand_before_msmq() -> None:
    assert "</stream><more/><Msmq " in write(decode_envelope(FIRST), blocks="<more/>")
