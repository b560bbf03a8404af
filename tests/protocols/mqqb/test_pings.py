"""Tests pings: requests are answered as a session would be, and responses belong to one request."""

from __future__ import annotations

from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.mqqb.effects import SendPing
from reliquary.protocols.mqqb.events import PingArrived
from reliquary.protocols.mqqb.pings import response_to
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.wire.packet.ping import Ping
from tests.protocols.mqqb.mqqb_harness import PEER, MqqbBench


@given(st.binary(max_size=40))
def test_rubbish_is_no_response(data: bytes) -> None:
    assert response_to(Ping(1, PEER).encode(), data) in (None, True, False)


@given(st.integers(0, 0xFFFFFFFF), st.booleans())
def test_the_answer_to_a_ping_is_a_response_to_it(cookie: int, refused: bool) -> None:
    asked = Ping(cookie, PEER)
    answer = asked.answer(UUID(int=1), refused=refused).encode()
    assert response_to(asked.encode(), answer) is not refused


def test_a_manager_that_is_full_answers_that_it_would_refuse() -> None:
    bench = MqqbBench(settings=MqqbSettings(sessions=1, answer_pings=True))
    bench.accepted()
    bench.handle(PingArrived("10.0.0.1", 99, Ping(3, PEER).encode()))
    (answer,) = [each for each in bench.out if isinstance(each, SendPing)]
    assert response_to(Ping(3, PEER).encode(), answer.data) is False
