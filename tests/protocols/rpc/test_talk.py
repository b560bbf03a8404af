"""Client and server talk with each other, over a link that cuts their bytes anywhere."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reliquary.protocols.rpc.events import Called, Closed, Faulted, Returned
from reliquary.protocols.rpc.limits import Limits
from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding
from reliquary.wire.rpc.protection import Protection
from tests.protocols.rpc.links import Link, accepted, dialed
from tests.protocols.rpc.pretended_security import NTLM, SPNEGO

LEVELS = [Protection.CONNECT, Protection.PACKET, Protection.INTEGRITY, Protection.PRIVACY]
securities = st.one_of(
    st.just((0, Protection.NONE)), st.tuples(st.sampled_from((NTLM, SPNEGO)), st.sampled_from(LEVELS))
)
stubs = st.one_of(st.binary(max_size=50), st.integers(0, 9000).map(lambda size: Random(size).randbytes(size)))
fragments = st.integers(1432, 5840)


@settings(max_examples=50, deadline=None)
@given(
    securities,
    st.lists(st.tuples(stubs, stubs), min_size=1, max_size=4),
    fragments,
    fragments,
    st.sampled_from(((NDR20,), (NDR64,), (NDR20, NDR64), (NDR64, NDR20))),
    st.integers(),
)
@pytest.mark.spec("QP-007", "QP-008")
@pytest.mark.mqqp("T03")
def test_stubs_arrive_whole(
    security: tuple[int, Protection],
    calls: list[tuple[bytes, bytes]],
    ours: int,
    theirs: int,
    encodings: tuple[Encoding, ...],
    seed: int,
) -> None:
    client = dialed(*security, fragment=ours, encodings=encodings)
    link = Link(client, accepted(limits=Limits(fragment=max(ours, theirs))), Random(seed))
    opened = link.open()
    assert opened.encoding == encodings[0]
    for number, (there, back) in enumerate(calls, 1):
        client.call(number, number, [there[:3], there[3:]])
        link.carry()
        called = link.called()
        # A verification trailer begins at a multiple of 4: what stands before it is a gap.
        assert called.stub.rstrip(b"\0") == there.rstrip(b"\0")
        assert (called.call, called.opnum, called.encoding) == (number, number, opened.encoding)
        assert (called.user, called.protection) == ("anna" if security[0] else "", security[1])
        link.server.respond(number, [back[:7], back[7:]])
        link.carry()
        assert link.at_client == [Returned(number, back, opened.encoding)]
        link.at_client.clear()
    assert (client.outstanding, link.server.outstanding) == (0, 0)


@pytest.mark.parametrize("encoding", [NDR20, NDR64], ids=["NDR 2.0", "NDR64"])
def test_the_longest_message_goes_there_and_back(encoding: Encoding) -> None:
    packet = Random(1).randbytes(0x420000)
    link = Link(dialed(encodings=[encoding]), accepted())
    link.open()
    link.client.call(1, 0, [b"head", packet])
    link.carry()
    assert link.called().stub == b"head" + packet
    link.server.respond(1, [b"head", packet, b"tail"])
    link.carry()
    assert link.at_client == [Returned(1, b"head" + packet + b"tail", encoding)]


def test_calls_wait_for_their_answers_side_by_side() -> None:
    link = Link(dialed(), accepted())
    assert link.open().multiplexed
    for call in range(1, 65):
        link.client.call(call, 0, [bytes((call,))])
    link.carry()
    assert link.server.outstanding == 64
    link.client.call(65, 0, [])
    link.carry()
    assert len(link.at_client) == 1
    assert isinstance(link.at_client[0], Faulted)
    for event in reversed(link.at_server):
        assert isinstance(event, Called)
        link.server.respond(event.call, [event.stub])
    link.at_client.clear()
    link.carry()
    answers = [event for event in link.at_client if isinstance(event, Returned)]
    assert [(answer.call, answer.stub) for answer in answers] == [
        (call, bytes((call,))) for call in range(64, 0, -1)
    ]


@pytest.mark.parametrize("auth_type", [NTLM, SPNEGO])
def test_a_user_that_the_server_does_not_know(auth_type: int) -> None:
    link = Link(dialed(auth_type, Protection.INTEGRITY, user="nobody"), accepted())
    link.client.begin()
    link.carry()
    if auth_type == NTLM:  # the refusal of an auth3 shows with the first call
        link.client.call(1, 0, [b"stub"])
        link.carry()
    assert isinstance(link.at_server[-1], Closed)
    assert not any(isinstance(event, Called) for event in link.at_server)
    assert isinstance(link.at_client[-1], Closed | Faulted)


def test_a_second_connection_joins_the_association() -> None:
    first = Link(dialed(), accepted())
    group = first.open().association
    second = Link(dialed(association=group), accepted(associations=first.server._associations))
    assert second.open().association == group
    assert first.server.lost() == 0
    assert second.server.lost() == group
