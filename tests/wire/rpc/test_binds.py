"""The PDUs that agree upon interfaces and transfer syntaxes."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.wire.rpc.binds import (
    NO_SYNTAX,
    Bind,
    BindAck,
    ContextElement,
    ContextResult,
    Nak,
    Reason,
    Result,
    decode_ack,
    decode_bind,
    decode_nak,
    encode_ack,
    encode_auth3,
    encode_bind,
    encode_nak,
)
from reliquary.wire.rpc.header import WHOLE, PduFault, PduType, decode_header
from reliquary.wire.rpc.syntaxes import EPM, NDR20_SYNTAX, QM2QM, SyntaxId
from reliquary.wire.rpc.verifier import Verifier, decode_verifier

NDR = "045d888aeb1cc9119fe808002b104860 02000000"
BIND = bytes.fromhex(
    "05000b03 10000000 48000000 01000000 b810b810 00000000 01000000 00000100"
    " 80a98810e5ead0118d9b00a02453c337 01000000" + NDR
)
"""referenced-specs 2.6: a bind of impacket, here for qm2qm."""
ACK = bytes.fromhex(
    "05000c03 10000000 40000000 01000000 d016d016 45230100 0600 33383830 3900 01000000 00000000" + NDR
)
ACK = ACK[:8] + len(ACK).to_bytes(2, "little") + ACK[10:]
BIG_BIND = bytes.fromhex(
    "05000b03 00000000 0048 0000 00000001 10b8 10b8 00000007 01000000 0005 0100"
    " 1088a980eae511d08d9b00a02453c337 0001 0000 8a885d041ceb11c99fe808002b104860 0002 0000"
)

numbers = st.integers(0, 0xFFFF)
syntaxes = st.builds(SyntaxId, st.uuids(), numbers, numbers)
binds = st.builds(
    Bind,
    numbers,
    numbers,
    st.integers(0, 0xFFFFFFFF),
    st.lists(
        st.builds(ContextElement, numbers, syntaxes, st.lists(syntaxes, max_size=3).map(tuple)), max_size=4
    ).map(tuple),
)
acks = st.builds(
    BindAck,
    numbers,
    numbers,
    st.integers(0, 0xFFFFFFFF),
    st.text("0123456789", max_size=5),
    st.lists(st.builds(ContextResult, numbers, numbers, syntaxes), max_size=4).map(tuple),
)


@pytest.mark.spec("QP-001")
@pytest.mark.mqqp("T01")
def test_a_bind_for_the_interface_is_encoded_and_decoded() -> None:
    bind = Bind(4280, 4280, 0, (ContextElement(0, QM2QM, (NDR20_SYNTAX,)),))
    assert encode_bind(PduType.BIND, 1, WHOLE, bind) == BIND
    assert decode_bind(BIND, decode_header(BIND)) == bind


def test_an_acknowledgement_is_encoded_and_decoded() -> None:
    ack = BindAck(5840, 5840, 0x12345, "38809", (ContextResult(Result.ACCEPTED, 0, NDR20_SYNTAX),))
    assert encode_ack(PduType.BIND_ACK, 1, WHOLE, ack) == ACK
    assert decode_ack(ACK, decode_header(ACK)) == ack


def test_a_big_endian_bind_is_decoded() -> None:
    bind = decode_bind(BIG_BIND, decode_header(BIG_BIND))
    assert bind == Bind(0x10B8, 0x10B8, 7, (ContextElement(5, QM2QM, (NDR20_SYNTAX,)),))


@settings(max_examples=50)
@given(binds, st.sampled_from((None, Verifier(9, 2, 7, b"token"))))
def test_any_bind_is_encoded_and_decoded(bind: Bind, verifier: Verifier | None) -> None:
    data = encode_bind(PduType.ALTER_CONTEXT, 9, 0, bind, verifier)
    header = decode_header(data)
    assert (header.type, header.length, header.call) == (PduType.ALTER_CONTEXT, len(data), 9)
    assert decode_bind(data, header) == bind
    if verifier:
        assert decode_verifier(data, header, 16) == verifier


@settings(max_examples=50)
@given(acks)
def test_any_acknowledgement_is_encoded_and_decoded(ack: BindAck) -> None:
    data = encode_ack(PduType.ALTER_CONTEXT_RESP, 9, 0, ack, Verifier(9, 2, 7))
    header = decode_header(data)
    assert decode_ack(data, header) == ack
    assert (header.length, header.auth) == (len(data), 0)
    assert data.endswith(Verifier(9, 2, 7).trailer())


@pytest.mark.parametrize("size", range(16, len(BIND)))
def test_a_bind_that_ends_early_is_refused(size: int) -> None:
    with pytest.raises(PduFault, match="bytes are wanted"):
        decode_bind(BIND, decode_header(BIND)._replace(length=size))


def test_a_bind_without_contexts_may_end_behind_their_count() -> None:
    data = encode_bind(PduType.BIND, 1, 0, Bind(1, 2, 3, ()))
    assert decode_bind(data, decode_header(data)._replace(length=25)).elements == ()


@pytest.mark.parametrize("size", range(16, len(ACK)))
def test_an_acknowledgement_that_ends_early_is_refused(size: int) -> None:
    with pytest.raises(PduFault, match="bytes are wanted"):
        decode_ack(ACK, decode_header(ACK)._replace(length=size))


@pytest.mark.parametrize("reason", Nak)
def test_a_refusal_is_encoded_and_decoded(reason: Nak) -> None:
    data = encode_nak(7, reason)
    assert len(data) == 24
    assert data[18:] == bytes((1, 5, 0, 0, 0, 0))
    assert decode_nak(data, decode_header(data)) == reason


def test_the_last_token_stands_behind_four_bytes_without_a_meaning() -> None:
    data = encode_auth3(3, WHOLE, Verifier(10, 5, 0, b"token"))
    header = decode_header(data)
    assert (header.type, header.auth) == (PduType.AUTH3, 5)
    assert decode_verifier(data, header, 20) == Verifier(10, 5, 0, b"token")


def test_a_result_that_accepts_nothing_names_no_syntax() -> None:
    assert ContextResult(Result.PROVIDER_REJECTION, Reason.ABSTRACT_SYNTAX).transfer is NO_SYNTAX
    assert NO_SYNTAX.uuid == UUID(int=0)
    assert EPM.major == 3
