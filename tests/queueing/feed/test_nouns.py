"""Consumers as a noun: what is declared is what the views know, for the user who asks."""

from __future__ import annotations

import pytest

from reliquary.queueing.feed.events import OpenConsumer
from reliquary.queueing.feed.nouns import CONSUMER
from reliquary.queueing.feed.views import consumers
from reliquary.queueing.model.administration import Refusal
from reliquary.queueing.model.security.principals import ANONYMOUS
from tests.queueing.feed.test_views import close
from tests.queueing.manager_harness import Bench
from tests.queueing.viewing import view_of


def test_the_consumers_of_one_queue_are_listed() -> None:
    bench = Bench("orders", "other")
    for queue in ("orders", "other"):
        bench.ask(OpenConsumer(0, queue, f"{queue} lake"))
    [listed] = CONSUMER.listing.records(view_of(bench.state), queue="orders")
    assert listed.name == "orders lake"
    assert [listed] == list(consumers(bench.state, "orders"))


def test_it_is_the_user_of_the_view_who_must_be_allowed_to_look() -> None:
    bench = Bench("orders")
    close(bench, "orders")
    with pytest.raises(Refusal):
        list(CONSUMER.listing.records(view_of(bench.state, ANONYMOUS), queue="orders"))
