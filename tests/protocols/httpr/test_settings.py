"""Settings that cannot be are refused in one sentence; what we ask for by ourselves is quick."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.settings import PROPOSED, HttprSettings, Peer
from tests.protocols.httpr.client_harness import Client, bodies
from tests.protocols.httpr.httpr_harness import HttprBench


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"response_time": 0}, "response_time is 0"),
        ({"batch_bytes": 0}, "batch_bytes is 0"),
        ({"retry_ladder": ()}, "retry_ladder needs at least one span"),
        ({"peers": (Peer(responder="httpr://you/mq", exchange=True),)}, "needs pull"),
    ],
)
def test_invalid_settings_are_refused(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        HttprSettings(**wrong)


def test_a_peer_without_words_of_its_own_is_as_all() -> None:
    mine = Peer(responder="httpr://you/mq", channel="primary")
    settings = HttprSettings(peers=(mine,))
    assert settings.peer("httpr://you/mq") is mine
    assert settings.peer("httpr://other/mq") == Peer(responder="httpr://other/mq")


@pytest.mark.spec("HR-095", "HR-096")
def test_our_pull_waits_long_for_a_first_message_and_not_for_a_second() -> None:
    client = Client(HttprBench())
    caller = client.pull_later(0, capabilities=PROPOSED)
    client.bench.advance(15)
    assert client.answer_to(caller) is None
    client.bench.send("orders", b"a")
    client.bench.advance(0.01)
    answer = client.answer_to(caller)
    assert answer is not None
    assert bodies(answer) == [b"a"]


def test_messages_go_to_the_first_peer_that_carries_them_or_straight() -> None:
    near = Peer(responder="httpr://near/mq", carries=("httpr://far/mq", "httpr://inside.*"))
    settings = HttprSettings(peers=(near, Peer(responder="httpr://other/mq", carries=("*",))))
    hops = [
        settings.next_hop(agent) for agent in ("httpr://far/mq", "httpr://inside.x/mq", "httpr://far/mq2")
    ]
    assert hops == ["httpr://near/mq", "httpr://near/mq", "httpr://other/mq"]
    assert HttprSettings(peers=(near,)).next_hop("httpr://else/mq") == "httpr://else/mq"
