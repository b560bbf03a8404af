"""Tests the search for a refused message: smaller batches, until the peer has taken all the others."""

from __future__ import annotations

from reliquary.base.time import Instant
from reliquary.protocols.httpr.client.connection import SentRequest
from reliquary.protocols.httpr.client.refusals import Refusals, RefusedMessageSearch
from reliquary.protocols.httpr.codec.values import Command


def push(batch: int, messages: int) -> SentRequest:
    return SentRequest(batch, Command.PUSH, False, Instant(0), batch, 5, messages)


def test_a_search_halves_the_batch_and_ends_with_one_message() -> None:
    refusals = Refusals()
    refusals.start_search(push(1, 5))
    assert refusals.search == RefusedMessageSearch(queue=5, batch_limit=2, unverified=5)
    refusals.start_search(push(2, 1))
    assert refusals.search is None


def test_a_search_ends_when_all_messages_of_the_refused_batch_were_taken() -> None:
    refusals = Refusals()
    refusals.continue_search(push(1, 2), (1,))  # there is no search
    refusals.start_search(push(1, 4))
    refusals.continue_search(push(2, 2), ())
    assert refusals.search is not None
    assert refusals.search.unverified == 4
    refusals.continue_search(push(3, 2), (3,))
    assert refusals.search.unverified == 2
    refusals.continue_search(push(4, 2), (4,))
    assert refusals.search is None
