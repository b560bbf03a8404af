"""Tests one accepted connection: binds, alter_contexts, authentication, associations, and what ends it."""

from __future__ import annotations

import pytest

from reliquary.protocols.rpc.associations import Associations
from reliquary.protocols.rpc.events import Bound, Called, Closed
from reliquary.protocols.rpc.limits import Limits
from reliquary.protocols.rpc.phases import Task
from reliquary.protocols.rpc.server import _DO, ServerConnection
from reliquary.wire.ndr.encoding import NDR20, NDR64
from reliquary.wire.rpc.binds import ContextResult, Nak, Result, encode_auth3
from reliquary.wire.rpc.calls import Fault, encode_bare, encode_fault, response_head
from reliquary.wire.rpc.features import features_syntax
from reliquary.wire.rpc.header import WHOLE, Flag, Header, PduType
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.syntaxes import EPM, MGMT, NDR20_SYNTAX, NDR64_SYNTAX, QM2QM
from reliquary.wire.rpc.verifier import Verifier, decode_verifier
from tests.protocols.rpc.links import (
    accepted,
    bind,
    bound,
    closed,
    element,
    request,
    sent,
    sent_ack,
    sent_fault,
    sent_nak,
)
from tests.protocols.rpc.pretended_security import NTLM, SPNEGO

HELLO = Verifier(SPNEGO, Protection.CONNECT, 1, b"hello")
PROOF = HELLO._replace(token=b"proof of anna")
ALTER = PduType.ALTER_CONTEXT


def greeted(verifier: Verifier = HELLO) -> ServerConnection:
    """Return a connection that waits for the proof."""
    server = accepted()
    server.receive(bind(element(), verifier=verifier))
    server.output()
    return server


def test_every_task_is_done_by_a_method() -> None:
    assert set(_DO) == set(Task)


class TestBind:
    """The first PDU of a connection."""

    @pytest.mark.spec("QP-001", "QP-002", "QP-012")
    @pytest.mark.mqqp("T01")
    def test_the_interface_is_bound(self) -> None:
        server = accepted()
        assert server.receive(bind(element(3))) == [Bound(0x1000, QM2QM, NDR20)]
        ack = sent_ack(server)
        assert (ack.transmit, ack.receive, ack.group, ack.address) == (5840, 5840, 0x1000, "2105")
        assert ack.results == (ContextResult(Result.ACCEPTED, 0, NDR20_SYNTAX),)

    @pytest.mark.spec("QP-001")
    @pytest.mark.mqqp("T01")
    @pytest.mark.parametrize("interface", [EPM, QM2QM._replace(major=2)])
    def test_another_interface_or_version_is_rejected_in_the_acknowledgement(self, interface: object) -> None:
        server = accepted()
        assert server.receive(bind(element(0, interface))) == []  # type: ignore[arg-type]
        assert sent_ack(server).results[0].result == Result.PROVIDER_REJECTION
        server.receive(request())
        assert sent_fault(server)[1].status == FaultStatus.UNKNOWN_INTERFACE

    @pytest.mark.spec("QP-007", "QP-008")
    @pytest.mark.mqqp("T03")
    def test_contexts_of_both_syntaxes_are_bound_and_features_negotiated(self) -> None:
        server = accepted()
        events = server.receive(
            bind(element(0, QM2QM, [NDR64_SYNTAX]), element(1, MGMT), element(2, MGMT, [features_syntax(7)]))
        )
        assert events == [Bound(0x1000, QM2QM, NDR64), Bound(0x1000, MGMT, NDR20)]
        assert sent_ack(server).results[2] == ContextResult(Result.NEGOTIATE_ACK, 3)
        (called,) = server.receive(request(context=0))
        assert isinstance(called, Called)
        assert called.encoding == NDR64

    @pytest.mark.parametrize("flags", [0, Flag.HEADER_SIGN, Flag.MULTIPLEX, 0xFF])
    def test_the_flags_that_both_sides_know_are_answered(self, flags: int) -> None:
        server = accepted()
        server.receive(bind(element(), flags=flags))
        assert sent(server)[0].flags == WHOLE | flags & (Flag.HEADER_SIGN | Flag.MULTIPLEX)

    def test_the_length_of_fragments_is_agreed_upon(self) -> None:
        server = accepted()
        server.receive(bind(element(), sizes=(0xFFFF, 3199)))
        ack = sent_ack(server)
        assert (ack.transmit, ack.receive) == (3192, 3192)
        server.receive(request())
        server.respond(1, [bytes(4000)])
        assert len(b"".join(server.output())) == 4000 + 2 * 24

    @pytest.mark.parametrize(
        ("data", "reason"),
        [
            (bind(), Nak.NOT_SPECIFIED),
            (bind(element(transfers=[])), Nak.NOT_SPECIFIED),
            (bind(element(), group=1), Nak.NOT_SPECIFIED),
            (bind(*(element(number) for number in range(33))), Nak.LOCAL_LIMIT),
            (bind(element(), verifier=HELLO._replace(kind=16)), Nak.AUTH_TYPE),
            (bind(element(), verifier=HELLO._replace(level=7)), Nak.NOT_SPECIFIED),
            (bind(element(), verifier=HELLO._replace(token=b"wrong")), Nak.CHECKSUM),
            (bind(element(), verifier=HELLO._replace(padding=49)), Nak.PROTOCOL_VERSION),
            (b"\5\1" + bind(element())[2:], Nak.PROTOCOL_VERSION),
            (b"\4\0" + bind(element())[2:], Nak.PROTOCOL_VERSION),
            (bind(element())[:24] + b"\2" + bind(element())[25:], Nak.PROTOCOL_VERSION),
        ],
        ids=[
            "no context",
            "no transfer syntax",
            "association",
            "contexts",
            "type",
            "level",
            "token",
            "padding",
            "minor version",
            "major version",
            "count",
        ],
    )
    def test_why_a_bind_is_refused(self, data: bytes, reason: Nak) -> None:
        groups = Associations()
        server = accepted(associations=groups)
        assert closed(server.receive(data))
        assert sent_nak(server) == reason
        assert len(groups) == 0
        assert server.lost() == 0

    def test_a_second_bind_ends_the_connection(self) -> None:
        server = bound()
        assert closed(server.receive(bind(element(1), call=9)))
        header, _ = sent(server)
        assert (header.type, header.call) == (PduType.BIND_NAK, 9)

    def test_a_big_endian_bind_is_answered_in_our_order(self) -> None:
        data = bytes.fromhex(
            "05000b03 00000000 0048 0000 00000001 10b8 10b8 00000000 01000000 0005 0100"
            " 1088a980eae511d08d9b00a02453c337 0001 0000 8a885d041ceb11c99fe808002b104860 0002 0000"
        )
        server = accepted()
        assert server.receive(data) == [Bound(0x1000, QM2QM, NDR20)]
        assert sent_ack(server).results[0].transfer == NDR20_SYNTAX


class TestAlter:
    """A client negotiates further presentation contexts with alter_context."""

    def test_a_further_context_is_bound(self) -> None:
        server = bound()
        assert server.receive(bind(element(1, MGMT), kind=ALTER, group=99, sizes=(0, 0))) == [
            Bound(0x1000, MGMT, NDR20)
        ]
        ack = sent_ack(server)
        assert (ack.transmit, ack.group, ack.address) == (5840, 0x1000, "")
        (called,) = server.receive(request(context=1))
        assert isinstance(called, Called)
        assert called.interface == MGMT

    def test_header_signing_may_be_offered_later_and_multiplexing_may_not(self) -> None:
        server = bound()
        server.receive(bind(element(1, MGMT), kind=ALTER, flags=0xFF))
        assert sent(server)[0].flags == WHOLE | Flag.HEADER_SIGN

    @pytest.mark.parametrize(
        "data",
        [
            bind(kind=ALTER),
            bind(element(0, MGMT), kind=ALTER),
            bind(element(0, transfers=[NDR64_SYNTAX]), kind=ALTER),
            bind(element(1), kind=ALTER)[:24] + b"\7" + bind(element(1), kind=ALTER)[25:],
            bind(element(1), kind=ALTER, verifier=HELLO._replace(padding=60)),
        ],
        ids=["no context", "another interface", "another syntax", "count", "padding"],
    )
    def test_what_breaks_the_protocol_ends_the_connection(self, data: bytes) -> None:
        server = bound()
        assert closed(server.receive(data))
        assert sent_fault(server) == (1, Fault(0, FaultStatus.PROTOCOL), False)

    def test_nothing_may_be_altered_before_a_bind(self) -> None:
        server = accepted()
        assert closed(server.receive(bind(element(), kind=ALTER)))
        assert sent_fault(server)[1].status == FaultStatus.PROTOCOL


class TestSecurity:
    """Authentication in binds, alter_contexts and auth3."""

    def test_four_legs_and_a_call_in_the_name_of_the_user(self) -> None:
        server = accepted()
        server.receive(bind(element(), verifier=HELLO))
        header, data = sent(server)
        assert decode_verifier(data, header, 16).token == b"challenge"
        server.receive(bind(element(), kind=ALTER, verifier=PROOF))
        header, data = sent(server)
        assert decode_verifier(data, header, 16).token == b"welcome"
        (called,) = server.receive(request(b"stub"))
        assert isinstance(called, Called)
        assert (called.user, called.protection) == ("anna", Protection.CONNECT)

    def test_a_context_may_be_built_after_an_anonymous_bind(self) -> None:
        server = bound()
        for verifier in (HELLO, PROOF):
            server.receive(bind(element(), kind=ALTER, verifier=verifier))
        server.output()
        (called,) = server.receive(request(b"stub", verifier=HELLO._replace(token=bytes(16))))
        assert isinstance(called, Called)
        assert (called.user, called.stub) == ("anna", b"stub")

    def test_the_answer_to_the_last_token_has_a_trailer_without_a_token(self) -> None:
        server = greeted(HELLO._replace(kind=NTLM))
        server.receive(bind(element(), kind=ALTER, verifier=PROOF._replace(kind=NTLM)))
        header, data = sent(server)
        assert header.auth == 0
        assert data.endswith(PROOF._replace(kind=NTLM).trailer())

    def test_an_auth3_has_no_answer(self) -> None:
        server = greeted(HELLO._replace(kind=NTLM))
        assert server.receive(encode_auth3(1, WHOLE, PROOF._replace(kind=NTLM))) == []
        assert server.output() == []
        assert len(server.receive(request())) == 1

    def test_a_wrong_auth3_shows_with_the_first_call(self) -> None:
        server = greeted(HELLO._replace(kind=NTLM))
        assert server.receive(encode_auth3(1, WHOLE, HELLO._replace(kind=NTLM, token=b"wrong"))) == []
        assert closed(server.receive(request()))
        assert sent_fault(server) == (1, Fault(0, FaultStatus.ACCESS_DENIED), True)

    @pytest.mark.parametrize(
        "data",
        [
            encode_auth3(1, WHOLE, PROOF._replace(padding=1)),
            Header(PduType.AUTH3, WHOLE, 20, 0, 1).encode() + bytes(4),
        ],
        ids=["padding", "no token"],
    )
    def test_an_auth3_that_cannot_be_read_ends_the_connection(self, data: bytes) -> None:
        server = greeted()
        assert closed(server.receive(data))
        assert sent_fault(server) == (1, Fault(0, FaultStatus.NO_MEMORY), False)

    def test_an_auth3_out_of_turn_ends_the_connection(self) -> None:
        server = bound()
        assert closed(server.receive(encode_auth3(1, WHOLE, PROOF)))
        assert sent_fault(server) == (1, Fault(0, FaultStatus.PROTOCOL), False)

    def test_a_call_before_the_last_token_ends_the_connection(self) -> None:
        server = greeted()
        assert closed(server.receive(request(verifier=HELLO)))
        assert sent_fault(server) == (1, Fault(0, FaultStatus.PROTOCOL), False)

    @pytest.mark.parametrize(
        ("verifier", "status"),
        [
            (None, FaultStatus.PROTOCOL),
            (PROOF._replace(kind=0), FaultStatus.ACCESS_DENIED),
            (PROOF._replace(kind=NTLM), FaultStatus.SECURITY_ERROR),
            (PROOF._replace(level=Protection.PRIVACY), FaultStatus.ACCESS_DENIED),
            (PROOF._replace(token=b"wrong"), FaultStatus.SECURITY_ERROR),
        ],
        ids=["no token", "no type", "type", "level", "token"],
    )
    def test_why_a_leg_is_refused(self, verifier: Verifier | None, status: FaultStatus) -> None:
        server = greeted()
        assert closed(server.receive(bind(element(), kind=ALTER, verifier=verifier)))
        assert sent_fault(server) == (1, Fault(0, status), False)

    def test_a_token_on_an_anonymous_connection_is_refused(self) -> None:
        server = bound()
        assert closed(server.receive(request(verifier=Verifier(0, 2, 0, b"none"))))
        assert sent_fault(server) == (1, Fault(0, FaultStatus.ACCESS_DENIED), True)

    def test_a_wrong_signature_ends_the_connection(self) -> None:
        server = greeted(HELLO._replace(level=Protection.INTEGRITY))
        server.receive(bind(element(), kind=ALTER, verifier=PROOF._replace(level=Protection.INTEGRITY)))
        server.output()
        signature = HELLO._replace(level=Protection.INTEGRITY, token=bytes(16))
        assert closed(server.receive(request(bytes(16), verifier=signature)))
        assert sent_fault(server) == (1, Fault(0, FaultStatus.SECURITY_ERROR), True)


class TestAssociations:
    """Groups of connections, and what ends with the last of them."""

    def test_connections_join_by_number(self) -> None:
        groups = Associations()
        first, second = accepted(associations=groups), accepted(associations=groups)
        first.receive(bind(element()))
        group = sent_ack(first).group
        assert second.receive(bind(element(), group=group)) == [Bound(group, QM2QM, NDR20)]
        assert first.lost() == 0
        assert second.lost() == group
        assert second.lost() == 0
        assert len(groups) == 0

    def test_a_client_of_another_host_is_refused(self) -> None:
        groups = Associations()
        first, second = accepted(associations=groups), accepted(associations=groups, peer="there")
        first.receive(bind(element()))
        assert closed(second.receive(bind(element(), group=sent_ack(first).group)))
        assert sent_nak(second) == Nak.NOT_SPECIFIED
        assert second.lost() == 0

    def test_a_connection_that_never_bound_has_none(self) -> None:
        assert accepted().lost() == 0


class TestEnds:
    """What ends a connection, and that nothing is left of it."""

    @pytest.mark.parametrize(
        "data",
        [
            response_head(WHOLE, 24, 0, 1, 0, 0, 0),
            encode_fault(1, 0, 5, executed=True),
            encode_bare(PduType.SHUTDOWN, 1),
            encode_bare(PduType.BIND_ACK, 1),
            Header(1, WHOLE, 16, 0, 1).encode(),
            Header(255, WHOLE, 16, 0, 1).encode(),
        ],
        ids=["response", "fault", "shutdown", "bind_ack", "a ping of datagrams", "no type"],
    )
    def test_a_pdu_that_no_client_sends(self, data: bytes) -> None:
        server = bound()
        assert closed(server.receive(data))
        assert sent_fault(server) == (1, Fault(0, FaultStatus.PROTOCOL), False)

    def test_a_call_before_the_bind_ends_the_connection(self) -> None:
        server = accepted()
        assert closed(server.receive(request()))
        assert sent_fault(server)[1].status == FaultStatus.PROTOCOL

    def test_a_pdu_that_is_longer_than_the_limit(self) -> None:
        server = bound(limits=Limits(fragment=2048))
        assert len(server.receive(request(bytes(2048 - 24)))) == 1
        assert closed(server.receive(request(bytes(2049 - 24), call=6)[:16]))
        assert sent_fault(server) == (6, Fault(0, FaultStatus.PROTOCOL), True)

    def test_an_unsupported_version_is_refused(self) -> None:
        server = bound()
        assert closed(server.receive(b"\5\1" + request()[2:]))
        assert sent_fault(server)[1].status == FaultStatus.PROTOCOL

    def test_bytes_that_are_no_pdu_get_no_answer(self) -> None:
        server = bound()
        assert server.receive(b"GET / HTTP/1.1\r\n\r\n" * 2) == [
            Closed("the integer representation 2 is not 0 or 1: these bytes are not DCE/RPC")
        ]
        assert server.output() == []

    def test_nothing_is_left_and_nothing_is_read_after_the_end(self) -> None:
        server = bound(multiplexed=True)
        events = server.receive(request(call=1) + request(flags=0, call=2) + request(call=3))
        assert [type(event) for event in events] == [Called, Closed]
        assert server.closed
        assert server.outstanding == 0
        server.output()
        server.respond(1, [b"too late"])
        assert server.receive(request(call=4)) == []
        assert server.output() == []
        assert server.lost() == 0x1000

    def test_a_lost_connection_forgets_its_calls(self) -> None:
        server = bound()
        server.receive(request())
        server.lost()
        assert (server.outstanding, server.closed) == (0, True)

    def test_a_flood_of_alter_contexts_stays_within_the_limit(self) -> None:
        server = bound(limits=Limits(contexts=4))
        for number in range(1, 60):
            server.receive(bind(element(number), kind=ALTER))
        assert len(server._contexts) == 4
        assert not server.closed
