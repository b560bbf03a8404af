"""Messages that cannot go by WS-RM are refused when they are sent."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.model.message import AuthenticationLevel, MessagePrivacy
from tests.protocols.wsrm.wsrm_harness import WsrmBench

FAR = "DIRECT=WSRM://far.example/svc"


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"privacy": MessagePrivacy.BASE}, "wsrms://"),
        ({"authentication": AuthenticationLevel.SIG10}, "signed"),
        ({"label": "a\0b"}, "U+0000"),
        ({"response_queue": "a\x01b"}, "U+0001"),
    ],
)
def test_what_cannot_go_is_refused_with_the_reason(wrong: dict[str, Any], why: str) -> None:
    bench = WsrmBench()
    answer = bench.send(FAR, b"<a/>", **wrong)
    assert answer.status is not HResult.OK
    assert why in answer.why
    assert not bench.state.names.outgoing


def test_an_ordinary_message_is_accepted() -> None:
    bench = WsrmBench()
    assert bench.send(FAR, b"<a/>").status is HResult.OK
    assert [queue.link.carrier.name for queue in bench.state.names.outgoing.values()] == ["wsrm"]  # type: ignore[union-attr]
