"""Settings that cannot be are refused in one sentence."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.settings import HttprSettings, Peer


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"response_time": 0}, "response_time is 0"),
        ({"batch_bytes": 0}, "batch_bytes is 0"),
        ({"retry_ladder": ()}, "retry_ladder has at least one span"),
        ({"peers": (Peer(responder="httpr://you/mq", exchange=True),)}, "needs pull"),
    ],
)
def test_what_cannot_be(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        HttprSettings(**wrong)


def test_a_peer_without_words_of_its_own_is_as_all() -> None:
    mine = Peer(responder="httpr://you/mq", channel="primary")
    settings = HttprSettings(peers=(mine,))
    assert settings.peer("httpr://you/mq") is mine
    assert settings.peer("httpr://other/mq") == Peer(responder="httpr://other/mq")
