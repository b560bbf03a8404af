"""Format names of HTTPR agents."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.schemes import HTTPR, HTTPRS, WORDS, names_agent
from reliquary.queueing.model.names.formats import DirectName, parse_single


@pytest.mark.parametrize(
    ("text", "ours"),
    [
        ("DIRECT=HTTPR://host/httpr/mq#orders", True),
        ("DIRECT=httprs://host/httpr/mq", True),
        ("DIRECT=HTTP://host/msmq/orders", False),
        (r"DIRECT=OS:host\private$\orders", False),
        ("MULTICAST=224.1.1.1:1", False),
    ],
)
def test_agents_are_known_by_their_word(text: str, ours: bool) -> None:
    assert names_agent(parse_single(text)) is ours


def test_the_queue_is_what_follows_the_number_sign() -> None:
    name = parse_single("DIRECT=HTTPR://host/httpr/mq#private$/a%20b")
    assert isinstance(name, DirectName)
    assert (name.scheme, name.queue_path) == (HTTPR, "private$\\a b")
    assert (HTTPR.word, HTTPRS.word) == WORDS
