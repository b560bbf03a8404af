"""The words between the manager and a carrier."""

from __future__ import annotations

import inspect

import pytest

from reliquary.base.turn import Signal
from reliquary.queueing.manager import HEARS
from reliquary.queueing.naming.formats import parse_single
from reliquary.queueing.travel import transfer
from reliquary.queueing.travel.transfer import Wrapper, wrapper_for
from tests.queueing.exchange import Clerk


@pytest.mark.spec("DM-324")
@pytest.mark.parametrize(
    ("name", "wrapper"),
    [
        (r"DIRECT=OS:a\b", Wrapper.BINARY),
        ("PUBLIC=6ba7b810-9dad-11d1-80b4-00c04fd430c8", Wrapper.BINARY),
        ("DIRECT=HTTPS://a/b", Wrapper.SRMP),
        ("MULTICAST=224.1.1.1:1", Wrapper.SRMP),
        ("DIRECT=HTTPR://a/b#c", Wrapper.HTTPR),
        ("DIRECT=HTTPRS://a/b#c", Wrapper.HTTPR),
    ],
)
def test_urls_and_multicast_go_by_srmp_agents_by_httpr_and_all_else_goes_binary(
    name: str, wrapper: Wrapper
) -> None:
    assert wrapper_for(parse_single(name)) is wrapper


def test_every_word_is_heard_by_the_manager_or_by_a_carrier_and_none_by_both() -> None:
    words = {
        word
        for _, word in inspect.getmembers(transfer, inspect.isclass)
        if issubclass(word, Signal) and word is not Signal
    }
    assert set(HEARS) | set(Clerk.HEARS) == words
    assert not set(HEARS) & set(Clerk.HEARS)
