"""Tests the calls of an accepted connection: what becomes of each fragment."""

from __future__ import annotations

import pytest

from reliquary.protocols.rpc.events import Called, Cancelled, Closed, Orphaned
from reliquary.protocols.rpc.guards import Guard
from reliquary.protocols.rpc.limits import Limits
from reliquary.protocols.rpc.server import ServerConnection
from reliquary.wire.ndr.encoding import NDR20, Encoding
from reliquary.wire.rpc.calls import Fault, encode_bare, request_head
from reliquary.wire.rpc.header import Flag, PduType
from reliquary.wire.rpc.protection import Protection
from reliquary.wire.rpc.statuses import FaultStatus
from reliquary.wire.rpc.syntaxes import NDR20_SYNTAX, NDR64_SYNTAX, QM2QM
from reliquary.wire.rpc.trailer import Claims, encode_trailer
from reliquary.wire.rpc.verifier import Verifier
from tests.protocols.rpc.links import accepted, bind, bound, closed, element, request, sent, sent_fault
from tests.protocols.rpc.pretended_security import NTLM, SPNEGO, PretendedClient

BIG_REQUEST = bytes.fromhex("05000003 00000000 001c 0000 00000007 00000004 0000 0009 00000005")


def test_a_call_of_one_fragment_is_answered() -> None:
    server = bound()
    (called,) = server.receive(request(b"stub", call=5, opnum=3))
    assert called == Called(0x1000, 5, QM2QM, 3, b"stub", NDR20, "", Protection.NONE)
    assert server.outstanding == 1
    server.respond(5, [b"ans", memoryview(b"wer")])
    header, data = sent(server)
    assert (header.type, header.call, data[24:], server.outstanding) == (PduType.RESPONSE, 5, b"answer", 0)


def test_a_call_of_three_fragments_is_answered() -> None:
    server = bound()
    assert server.receive(request(b"one ", flags=Flag.FIRST, opnum=4)) == []
    assert server.receive(request(b"two ", flags=0, opnum=99)) == []
    (called,) = server.receive(request(b"three", flags=Flag.LAST, context=77))
    assert isinstance(called, Called)
    assert (called.stub, called.opnum) == (b"one two three", 4)


def test_an_answer_to_no_call_sends_nothing() -> None:
    server = bound()
    server.respond(1, [b"answer"])
    server.fault(1, FaultStatus.BAD_STUB_DATA)
    assert server.output() == []


@pytest.mark.parametrize(
    ("status", "executed"),
    [(FaultStatus.OP_RANGE, False), (FaultStatus.BAD_STUB_DATA, True), (0xC00E0007, True)],
)
def test_a_fault_says_whether_the_method_may_have_run(status: int, executed: bool) -> None:
    server = bound()
    server.receive(request(call=5))
    server.fault(5, status)
    assert sent_fault(server) == (5, Fault(0, status), executed)


def test_a_status_that_must_not_be_sent_is_our_own_fault() -> None:
    with pytest.raises(AssertionError):
        bound().fault(1, 0)


def test_a_big_endian_client_is_marked() -> None:
    (called,) = bound().receive(BIG_REQUEST)
    assert isinstance(called, Called)
    assert called.encoding == Encoding(big_endian=True)
    assert (called.call, called.opnum) == (7, 9)


def test_ndr64_is_never_big_endian() -> None:
    server = accepted()
    server.receive(bind(element(transfers=[NDR64_SYNTAX])))
    server.output()
    assert closed(server.receive(BIG_REQUEST))
    assert sent_fault(server)[1].status == FaultStatus.PROTOCOL


def test_several_calls_are_under_way_on_a_multiplexed_connection() -> None:
    server = bound(multiplexed=True)
    server.receive(request(b"a", call=1) + request(b"b", call=2))
    server.respond(2, [b"second"])
    assert sent(server)[0].call == 2
    server.respond(1, [b"first"])
    assert sent(server)[0].call == 1


def test_only_one_call_is_pending_without_multiplexing() -> None:
    server = bound()
    server.receive(request(call=1))
    assert closed(server.receive(request(call=2)))
    assert sent_fault(server) == (2, Fault(0, FaultStatus.PROTOCOL), True)


def test_a_number_of_a_call_is_used_again_after_its_answer_only() -> None:
    server = bound(multiplexed=True)
    server.receive(request(call=1))
    server.respond(1, [b""])
    server.output()
    assert not closed(server.receive(request(call=1)))
    assert closed(server.receive(request(call=1)))
    assert sent_fault(server)[:2] == (1, Fault(0, FaultStatus.PROTOCOL))


@pytest.mark.parametrize("multiplexed", [False, True])
@pytest.mark.parametrize("flags", [0, Flag.LAST])
def test_a_fragment_of_no_call_is_a_protocol_error(flags: int, multiplexed: bool) -> None:
    server = bound(multiplexed=multiplexed)
    assert closed(server.receive(request(flags=flags, call=4)))
    assert sent_fault(server) == (4, Fault(0, FaultStatus.PROTOCOL), True)


@pytest.mark.parametrize(("multiplexed", "blamed"), [(False, 1), (True, 2)])
@pytest.mark.parametrize("flags", [Flag.FIRST, Flag.LAST, Flag.FIRST | Flag.LAST])
def test_a_request_is_whole_before_the_next_begins(flags: int, multiplexed: bool, blamed: int) -> None:
    server = bound(multiplexed=multiplexed)
    server.receive(request(flags=Flag.FIRST, call=1))
    assert closed(server.receive(request(flags=flags, call=2)))
    assert sent_fault(server) == (blamed, Fault(0, FaultStatus.PROTOCOL), True)


@pytest.mark.parametrize("multiplexed", [False, True])
def test_a_request_begins_once(multiplexed: bool) -> None:
    server = bound(multiplexed=multiplexed)
    server.receive(request(flags=Flag.FIRST))
    assert closed(server.receive(request(flags=Flag.FIRST)))
    assert sent_fault(server)[1].status == FaultStatus.PROTOCOL


def test_a_request_that_begins_cancelled_is_refused() -> None:
    server = bound()
    assert closed(server.receive(request(flags=Flag.FIRST | Flag.PENDING_CANCEL)))
    assert sent_fault(server) == (1, Fault(0, FaultStatus.NO_CALL_ACTIVE), False)


def test_a_later_fragment_may_say_that_it_is_cancelled() -> None:
    server = bound()
    server.receive(request(flags=Flag.FIRST))
    (called,) = server.receive(request(flags=Flag.LAST | Flag.PENDING_CANCEL))
    assert isinstance(called, Called)


def test_an_unknown_context_is_refused_and_the_connection_stays() -> None:
    server = bound()
    assert server.receive(request(b"x", call=3, context=9, flags=Flag.FIRST)) == []
    assert sent_fault(server) == (3, Fault(0, FaultStatus.UNKNOWN_INTERFACE), False)
    assert server.receive(request(b"x", call=3, context=9, flags=Flag.LAST)) == []
    assert len(server.receive(request(call=4))) == 1


def test_a_client_that_stops_after_the_fault_may_begin_the_next_call() -> None:
    server = bound()
    server.receive(request(b"x", call=3, context=9, flags=Flag.FIRST))
    server.output()
    assert len(server.receive(request(call=4))) == 1


def test_a_call_over_the_limit_is_refused_and_the_connection_stays() -> None:
    server = bound(multiplexed=True, limits=Limits(calls=2))
    server.receive(request(call=1) + request(call=2))
    assert server.receive(request(call=3)) == []
    assert sent_fault(server) == (3, Fault(0, FaultStatus.SERVER_TOO_BUSY), False)
    assert server.receive(request(b"long", call=4, flags=Flag.FIRST) + request(call=4, flags=Flag.LAST)) == []
    assert sent_fault(server)[1].status == FaultStatus.SERVER_TOO_BUSY
    server.respond(1, [b""])
    assert len(server.receive(request(call=5))) == 1


@pytest.mark.parametrize(
    "fragments",
    [
        [request(b"1", flags=Flag.FIRST, hint=11)],
        [request(bytes(6), flags=Flag.FIRST), request(bytes(5), flags=0)],
        [request(bytes(11))],
    ],
    ids=["announced", "in fragments", "at once"],
)
def test_a_stub_over_the_limit_is_refused(fragments: list[bytes]) -> None:
    server = bound(limits=Limits(stub=10))
    for fragment in fragments[:-1]:
        assert server.receive(fragment) == []
    assert closed(server.receive(fragments[-1]))
    assert sent_fault(server) == (1, Fault(0, FaultStatus.ACCESS_DENIED), True)


def test_a_whole_request_may_announce_anything() -> None:
    assert len(bound().receive(request(b"stub", hint=0xFFFFFFFF))) == 1


def test_many_empty_fragments_are_not_kept() -> None:
    server = bound()
    server.receive(request(b"a", flags=Flag.FIRST))
    for _ in range(1000):
        assert server.receive(request(b"", flags=0)) == []
    (called,) = server.receive(request(b"b", flags=Flag.LAST))
    assert isinstance(called, Called)
    assert called.stub == b"ab"


@pytest.mark.parametrize("size", [16, 23])
def test_a_request_without_its_own_header_is_a_protocol_error(size: int) -> None:
    server = bound()
    data = bytearray(request(bytes(4))[:size])
    data[8:10] = size.to_bytes(2, "little")
    assert closed(server.receive(bytes(data)))
    assert sent_fault(server)[1].status == FaultStatus.PROTOCOL


def test_an_object_is_skipped() -> None:
    server = bound()
    (called,) = server.receive(
        request(bytes(range(16)) + b"stub", flags=Flag.FIRST | Flag.LAST | Flag.OBJECT)
    )
    assert isinstance(called, Called)
    assert called.stub == b"stub"


class TestCancels:
    """The PDUs co_cancel and orphaned reach the server."""

    def test_the_client_cancels_and_still_waits(self) -> None:
        server = bound()
        server.receive(request(call=1))
        assert server.receive(encode_bare(PduType.CO_CANCEL, 1)) == [Cancelled(1)]
        assert server.outstanding == 1
        server.fault(1, FaultStatus.CANCELLED)
        header, data = sent(server)
        assert (header.type, data[22]) == (PduType.FAULT, 1)

    def test_the_client_forgets_a_call(self) -> None:
        server = bound()
        server.receive(request(call=1))
        assert server.receive(encode_bare(PduType.ORPHANED, 1)) == [Orphaned(1)]
        server.respond(1, [b"too late"])
        assert server.output() == []
        assert len(server.receive(request(call=2))) == 1

    @pytest.mark.parametrize("kind", [PduType.CO_CANCEL, PduType.ORPHANED])
    def test_a_call_that_is_not_under_way_is_not_meant(self, kind: PduType) -> None:
        server = bound()
        assert server.receive(encode_bare(kind, 1)) == []
        server.receive(request(b"a", flags=Flag.FIRST))
        assert server.receive(encode_bare(kind, 1)) == []
        assert len(server.receive(request(b"b", flags=Flag.LAST))) == 1

    def test_cancels_are_counted_up_to_what_a_byte_can_say(self) -> None:
        server = bound()
        server.receive(request(call=1))
        assert len(server.receive(encode_bare(PduType.CO_CANCEL, 1) * 300)) == 300
        server.respond(1, [b""])
        assert sent(server)[1][22] == 255


class TestTrailer:
    """The verification trailer of a request."""

    CLAIMS = Claims(QM2QM, NDR20_SYNTAX, call=1, context=0, opnum=2, header_signing=False)

    def test_the_verification_trailer_is_removed(self) -> None:
        (called,) = bound().receive(request(b"stub" + encode_trailer(4, self.CLAIMS), opnum=2))
        assert isinstance(called, Called)
        assert called.stub == b"stub"

    def test_a_call_whose_header_was_changed_is_refused(self) -> None:
        server = bound()
        assert server.receive(request(b"stub" + encode_trailer(4, self.CLAIMS), opnum=3)) == []
        assert sent_fault(server) == (1, Fault(0, FaultStatus.ACCESS_DENIED), False)
        assert server.outstanding == 0
        assert not isinstance(server.receive(request(call=2))[0], Closed)


class TestSignedFragments:
    """Each fragment is signed by the context of the first one; its other fields are not read."""

    LEVEL = Protection.INTEGRITY

    def secured(self, *, multiplexed: bool = False) -> ServerConnection:
        """Return a connection with the security contexts 1 and 2."""
        server = accepted()
        server.receive(bind(element(), flags=Flag.MULTIPLEX if multiplexed else 0))
        for number in (1, 2):
            for token in (b"hello", b"proof of anna"):
                leg = Verifier(SPNEGO, self.LEVEL, number, token)
                server.receive(bind(element(), kind=PduType.ALTER_CONTEXT, verifier=leg))
        server.output()
        return server

    def signed(self, guard: Guard, stub: bytes, *, call: int = 1, flags: int, context: int = 0) -> bytes:
        length = 24 + len(stub) + -len(stub) % 16 + guard.overhead()
        head = request_head(flags, length, guard.context.signature_size, call, len(stub), context, 2)
        return guard.protect(head, stub)

    def guard(self, number: int = 1, kind: int = SPNEGO, level: Protection = LEVEL) -> Guard:
        return Guard(kind, number, level, PretendedClient(4))

    def test_all_fragments_are_signed(self) -> None:
        server, guard = self.secured(), self.guard()
        assert server.receive(self.signed(guard, b"one ", flags=Flag.FIRST)) == []
        (called,) = server.receive(self.signed(guard, b"two", flags=Flag.LAST, context=111))
        assert isinstance(called, Called)
        assert (called.stub, called.user) == (b"one two", "anna")

    def test_a_later_fragment_may_name_another_context_if_the_signature_is_right(self) -> None:
        server, guard = self.secured(), self.guard()
        server.receive(self.signed(guard, b"one ", flags=Flag.FIRST))
        guard.number = guard.kind = 111
        assert len(server.receive(self.signed(guard, b"two", flags=Flag.LAST))) == 1

    @pytest.mark.parametrize("flags", [Flag.FIRST, Flag.LAST])
    def test_a_later_fragment_that_another_context_signed_is_refused(self, flags: int) -> None:
        server = self.secured()
        server.receive(self.signed(self.guard(), b"one ", flags=Flag.FIRST))
        assert closed(server.receive(self.signed(self.guard(2), b"two", flags=flags)))
        assert sent_fault(server) == (1, Fault(0, FaultStatus.SECURITY_ERROR), True)

    @pytest.mark.parametrize("flags", [Flag.FIRST, Flag.LAST])
    def test_a_later_fragment_without_a_signature_is_refused(self, flags: int) -> None:
        server = self.secured()
        server.receive(self.signed(self.guard(), b"one ", flags=Flag.FIRST))
        assert closed(server.receive(request(b"two", flags=flags)))
        assert sent_fault(server) == (1, Fault(0, FaultStatus.PROTOCOL), True)

    def test_a_later_fragment_of_an_anonymous_call_has_no_signature(self) -> None:
        server = self.secured()
        server.receive(request(b"one ", flags=Flag.FIRST))
        assert closed(server.receive(self.signed(self.guard(), b"two", flags=Flag.LAST)))
        assert sent_fault(server) == (1, Fault(0, FaultStatus.PROTOCOL), True)

    def test_fragments_of_a_call_over_the_limit_are_still_counted(self) -> None:
        server, guard = self.secured(multiplexed=True), self.guard()
        for call in range(1, 65):
            server.receive(request(call=call))
        server.output()
        server.receive(self.signed(guard, b"one", call=70, flags=Flag.FIRST))
        assert sent_fault(server)[1].status == FaultStatus.SERVER_TOO_BUSY
        assert server.receive(self.signed(guard, b"two", call=70, flags=Flag.LAST)) == []
        server.respond(1, [b""])
        assert len(server.receive(self.signed(guard, b"three", call=71, flags=Flag.FIRST | Flag.LAST))) == 1

    def test_signatures_of_a_call_for_an_unknown_context_are_still_counted(self) -> None:
        server, guard = self.secured(), self.guard()
        assert server.receive(self.signed(guard, b"one", call=5, flags=Flag.FIRST, context=9)) == []
        assert sent_fault(server) == (5, Fault(0, FaultStatus.UNKNOWN_INTERFACE), False)
        assert server.receive(self.signed(guard, b"two", call=5, flags=Flag.LAST, context=9)) == []
        assert len(server.receive(self.signed(guard, b"stub", call=6, flags=Flag.FIRST | Flag.LAST))) == 1

    def test_a_call_for_an_unknown_context_in_an_unknown_name_is_dropped(self) -> None:
        server, guard = self.secured(), self.guard(9)
        for flags in (Flag.FIRST, Flag.LAST):
            assert server.receive(self.signed(guard, b"stub", flags=flags, context=9)) == []
        assert sent_fault(server)[1].status == FaultStatus.UNKNOWN_INTERFACE

    @pytest.mark.parametrize(
        ("number", "kind", "level"),
        [(9, SPNEGO, LEVEL), (1, NTLM, LEVEL), (1, SPNEGO, Protection.PACKET)],
        ids=["number", "type", "level"],
    )
    def test_the_first_fragment_names_a_context(self, number: int, kind: int, level: Protection) -> None:
        server = self.secured(multiplexed=True)
        assert closed(server.receive(self.signed(self.guard(number, kind, level), b"stub", flags=0)))
        assert sent_fault(server) == (1, Fault(0, FaultStatus.ACCESS_DENIED), True)

    def test_a_fragment_of_no_call_is_judged_as_a_first_one_if_calls_are_multiplexed(self) -> None:
        server = bound(multiplexed=True)
        assert server.receive(request(flags=Flag.LAST, context=111)) == []
        assert sent_fault(server) == (1, Fault(0, FaultStatus.UNKNOWN_INTERFACE), False)
        server = bound()
        assert closed(server.receive(request(flags=Flag.LAST, context=111)))
        assert sent_fault(server) == (1, Fault(0, FaultStatus.PROTOCOL), True)
