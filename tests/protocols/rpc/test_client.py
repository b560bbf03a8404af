"""Tests a client connection."""

from __future__ import annotations

from itertools import product

import pytest

from reliquary.protocols.rpc.client import HANDLERS, STUB_LIMIT, ClientConnection, ClientPhase
from reliquary.protocols.rpc.events import Closed, Faulted, Opened, Returned
from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.rpc.binds import BindAck, ContextResult, Nak, Result, decode_bind, encode_ack, encode_nak
from reliquary.wire.rpc.calls import encode_bare, encode_fault, request_head, response_head
from reliquary.wire.rpc.header import WHOLE, Flag, Header, PduType, decode_header
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.syntaxes import NDR20_SYNTAX, NDR64_SYNTAX, QM2QM
from reliquary.wire.rpc.verifier import Verifier
from tests.protocols.rpc.links import dialed
from tests.protocols.rpc.pretended_security import NTLM, SPNEGO, PretendedClient

ACCEPTED = ContextResult(Result.ACCEPTED, 0, NDR20_SYNTAX)
REJECTED = ContextResult(Result.PROVIDER_REJECTION, 2)


def ack(
    *results: ContextResult,
    kind: PduType = PduType.BIND_ACK,
    receive: int = 5840,
    flags: int = Flag.MULTIPLEX,
    verifier: Verifier | None = None,
) -> bytes:
    return encode_ack(kind, 0, flags, BindAck(5840, receive, 77, "2105", results or (ACCEPTED,)), verifier)


def binding(client: ClientConnection | None = None) -> ClientConnection:
    """Return a connection that waits for the answer to its bind."""
    begun = client or dialed()
    begun.begin()
    begun.output()
    return begun


def opened(flags: int = Flag.MULTIPLEX) -> ClientConnection:
    """Return a connection that may be used."""
    client = binding()
    client.receive(ack(flags=flags))
    return client


def calling(*calls: int) -> ClientConnection:
    """Return a connection with calls under way."""
    client = opened()
    for call in calls:
        client.call(call, 3, [b"stub"])
    client.output()
    return client


def response(stub: bytes = b"", *, call: int = 1, flags: int = WHOLE) -> bytes:
    return response_head(flags, 24 + len(stub), 0, call, len(stub), 0, 0) + stub


@pytest.mark.spec("QP-001", "QP-007", "QP-008")
@pytest.mark.mqqp("T01", "T03")
def test_the_bind_offers_the_interface_in_both_syntaxes() -> None:
    client = dialed(association=9)
    client.begin()
    (data,) = client.output()
    header = decode_header(data)
    bind = decode_bind(data, header)
    assert (header.type, header.flags, bind.group) == (PduType.BIND, WHOLE | Flag.MULTIPLEX, 9)
    assert [(offer.interface, offer.transfers) for offer in bind.elements] == [
        (QM2QM, (NDR20_SYNTAX,)),
        (QM2QM, (NDR64_SYNTAX,)),
    ]


@pytest.mark.spec("QP-008")
@pytest.mark.mqqp("T03")
@pytest.mark.parametrize(
    ("results", "encoding"),
    [
        ((ACCEPTED, REJECTED), NDR20),
        ((REJECTED, ContextResult(Result.ACCEPTED, 0, NDR64_SYNTAX)), NDR64),
        ((ACCEPTED, ContextResult(Result.ACCEPTED, 0, NDR64_SYNTAX)), NDR20),
    ],
    ids=["NDR", "NDR64", "both"],
)
def test_the_server_chooses_the_transfer_syntax(
    results: tuple[ContextResult, ...], encoding: Encoding
) -> None:
    client = binding()
    assert client.receive(ack(*results)) == [Opened(77, encoding, multiplexed=True)]
    client.call(1, 3, [b"stub"])
    assert client.output() == [request_head(WHOLE, 28, 0, 1, 4, int(encoding.wide), 3) + b"stub"]


def test_a_server_without_multiplexing_takes_one_call_after_the_other() -> None:
    client = binding()
    assert client.receive(ack(flags=0)) == [Opened(77, NDR20, multiplexed=False)]
    client.call(1, 3, [])
    with pytest.raises(AssertionError):
        client.call(2, 3, [])


def test_requests_are_as_short_as_the_server_wants() -> None:
    client = binding()
    client.receive(ack(receive=2051))
    client.call(1, 3, [bytes(5000)])
    (data,) = client.output()
    assert decode_header(data).length == 2048


@pytest.mark.parametrize("receive", [0, 1431])
def test_fragments_that_are_too_short_for_the_protocol_are_refused(receive: int) -> None:
    assert binding().receive(ack(receive=receive)) == [
        Closed(f"the server takes fragments of {receive} bytes, fewer than 1432")
    ]


@pytest.mark.parametrize(
    "data",
    [
        ack(REJECTED, REJECTED),
        ack(REJECTED, REJECTED, ACCEPTED),
        encode_nak(0, Nak.AUTH_TYPE),
        encode_fault(0, 0, 5, executed=False),
        response(),
        ack(kind=PduType.ALTER_CONTEXT_RESP),
        ack()[:30] + ack()[31:],
        b"\xff" * 16,
        b"\4" + ack()[1:],
    ],
    ids=[
        "nothing is accepted",
        "something is accepted that was not offered",
        "bind_nak",
        "fault",
        "response",
        "alter_context_resp",
        "a byte is missing",
        "no PDU",
        "version",
    ],
)
def test_wrong_pdus_end_a_connection_that_is_binding(data: bytes) -> None:
    client = binding()
    events = client.receive(data + encode_bare(PduType.SHUTDOWN, 0))
    assert [type(event) for event in events] == [Closed]
    assert client.closed
    assert client.receive(ack()) == []


def test_pdus_outside_of_the_table_are_refused() -> None:
    states = set(product((ClientPhase.NEW, ClientPhase.CLOSED), PduType))
    assert not states & set(HANDLERS)
    assert {kind for phase, kind in HANDLERS if phase is ClientPhase.OPEN} == {
        PduType.RESPONSE,
        PduType.FAULT,
        PduType.SHUTDOWN,
    }


class TestCalls:
    """Requests of a client are matched with their answers."""

    def test_answers_come_in_any_order(self) -> None:
        client = calling(1, 2)
        assert client.receive(response(b"second", call=2)) == [Returned(2, b"second", NDR20)]
        assert client.receive(encode_fault(1, 0, 0xC00E0007, executed=True)) == [Faulted(1, 0xC00E0007)]
        assert client.outstanding == 0

    def test_fragments_of_several_answers_may_be_mixed(self) -> None:
        client = calling(1, 2)
        data = response(b"a", flags=Flag.FIRST) + response(b"x", call=2, flags=Flag.FIRST)
        data += response(b"b", flags=Flag.LAST) + response(b"y", call=2, flags=Flag.LAST)
        assert client.receive(data) == [Returned(1, b"ab", NDR20), Returned(2, b"xy", NDR20)]

    def test_a_big_endian_answer_is_marked(self) -> None:
        data = bytes.fromhex("05000203 00000000 0019 0000 00000001 00000001 0000 0000 61")
        assert calling(1).receive(data) == [Returned(1, b"a", Encoding(big_endian=True))]

    def test_a_call_is_cancelled_and_still_awaited(self) -> None:
        client = calling(1)
        client.cancel(1)
        client.cancel(9)
        assert client.output() == [encode_bare(PduType.CO_CANCEL, 1)]
        assert client.receive(response()) == [Returned(1, b"", NDR20)]

    @pytest.mark.parametrize(
        "data",
        [
            response(call=2),
            encode_fault(2, 0, 5, executed=True),
            response(flags=Flag.LAST),
            response(flags=Flag.FIRST) + response(flags=Flag.FIRST),
            response(flags=Flag.FIRST)[:8] + b"\x10\0" + response(flags=Flag.FIRST)[10:],
            ack(),
            Header(200, WHOLE, 16, 0, 1).encode(),
            response()[:2] + b"\2\3" + bytes((16, 0, 0, 0)) + bytes.fromhex("20000800 01000000") + bytes(16),
        ],
        ids=[
            "an answer to another call",
            "a fault of another call",
            "no first fragment",
            "two first fragments",
            "no room for a response",
            "bind_ack",
            "type",
            "a signature without a request for one",
        ],
    )
    def test_wrong_pdus_end_a_connection_in_use(self, data: bytes) -> None:
        client = calling(1)
        events = client.receive(data)
        assert isinstance(events[-1], Closed)
        assert client.outstanding == 0

    def test_an_answer_that_is_too_long_ends_the_connection(self) -> None:
        client = calling(1)
        fragment = response(bytes(5816), flags=0)
        client.receive(response(bytes(5816), flags=Flag.FIRST))
        count = STUB_LIMIT // 5816
        assert client.receive(fragment * (count - 1)) == []
        assert isinstance(client.receive(fragment)[0], Closed)

    def test_a_server_that_shuts_down_waits_for_its_calls(self) -> None:
        client = calling(1)
        assert client.receive(encode_bare(PduType.SHUTDOWN, 0)) == []
        events = client.receive(response(b"last"))
        assert events == [Returned(1, b"last", NDR20), Closed("the server ends the connection")]

    def test_an_idle_connection_ends_at_once_when_the_server_shuts_down(self) -> None:
        assert isinstance(opened().receive(encode_bare(PduType.SHUTDOWN, 0))[0], Closed)

    @pytest.mark.parametrize("call", [0, 1])
    def test_numbers_of_calls_are_not_0_and_differ(self, call: int) -> None:
        client = calling(1)
        with pytest.raises(AssertionError):
            client.call(call, 3, [])


class TestSecurity:
    """Tokens of the server, and answers that must be signed."""

    def token(self, token: bytes, kind: int = SPNEGO, level: Protection = Protection.INTEGRITY) -> Verifier:
        return Verifier(kind, level, 0, token)

    def secured(self) -> ClientConnection:
        client = binding(dialed(NTLM, Protection.INTEGRITY))
        assert len(client.receive(ack(verifier=self.token(b"challenge", NTLM)))) == 1
        client.call(1, 3, [b"stub"])
        client.output()
        return client

    @pytest.mark.parametrize(
        ("level", "flag"),
        [
            (Protection.CONNECT, 0),
            (Protection.INTEGRITY, Flag.HEADER_SIGN),
            (Protection.PRIVACY, Flag.HEADER_SIGN),
        ],
    )
    def test_the_bind_offers_header_signing_with_the_levels_that_sign(
        self, level: Protection, flag: int
    ) -> None:
        client = dialed(SPNEGO, level)
        client.begin()
        assert decode_header(client.output()[0]).flags & Flag.HEADER_SIGN == flag

    def test_a_last_token_without_an_answer_goes_in_an_auth3(self) -> None:
        client = binding(dialed(NTLM, Protection.INTEGRITY))
        (event,) = client.receive(ack(verifier=self.token(b"challenge", NTLM)))
        assert isinstance(event, Opened)
        assert decode_header(client.output()[0]).type == PduType.AUTH3

    @pytest.mark.parametrize(
        "answer",
        [b"good day", b""],
        ids=["a wrong token", "no token"],
    )
    def test_a_server_that_does_not_prove_itself_is_left(self, answer: bytes) -> None:
        client = binding(dialed(SPNEGO, Protection.INTEGRITY))
        assert isinstance(client.receive(ack(verifier=self.token(answer) if answer else None))[-1], Closed)

    @pytest.mark.parametrize("data", [encode_fault(0, 0, 5, executed=False), encode_nak(0, Nak.CHECKSUM)])
    def test_a_refused_proof_ends_the_connection(self, data: bytes) -> None:
        client = binding(dialed(SPNEGO, Protection.INTEGRITY, user="nobody"))
        client.receive(ack(verifier=self.token(b"challenge")))
        assert decode_header(client.output()[0]).type == PduType.ALTER_CONTEXT
        (event,) = client.receive(data)
        assert isinstance(event, Closed)

    def test_a_server_that_cannot_protect_as_we_want_is_left(self) -> None:
        weak = PretendedClient(3, strongest=Protection.INTEGRITY)
        client = ClientConnection(QM2QM, security=weak, auth_type=NTLM, protection=Protection.PRIVACY)
        challenge = self.token(b"challenge", NTLM, Protection.PRIVACY)
        (event,) = binding(client).receive(ack(verifier=challenge))
        assert event == Closed("the server did not negotiate what PRIVACY needs")

    def test_an_answer_without_a_signature_is_refused(self) -> None:
        assert isinstance(self.secured().receive(response(b"forged"))[0], Closed)

    @pytest.mark.parametrize("level", [Protection.CONNECT, Protection.INTEGRITY])
    def test_an_answer_with_a_wrong_signature_is_refused(self, level: Protection) -> None:
        verifier = self.token(bytes(16), NTLM, level)
        length = 24 + 16 + 8 + 16
        data = response_head(WHOLE, length, 16, 1, 16, 0, 0) + b"sixteen bytes..." + verifier.encode()
        assert isinstance(self.secured().receive(data)[0], Closed)

    def test_a_fault_needs_no_signature(self) -> None:
        assert self.secured().receive(encode_fault(1, 0, 5, executed=True)) == [Faulted(1, 5)]
