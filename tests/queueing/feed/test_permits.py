"""Tests that a look at a feed needs the right to peek, and a consumer the right to receive."""

from __future__ import annotations

import pytest

from reliquary.queueing.feed import events as feed
from reliquary.queueing.model.security.rights import QueueRight
from tests.queueing.security.users import Make, check_allowed, check_refused

REQUESTS = [
    pytest.param(
        lambda _: feed.LookAtFeeds(0, ("x*", "orders")), QueueRight.PEEK_MESSAGE, id="look at the feed"
    ),
    pytest.param(lambda _: feed.ReadFeed(0, "orders", 0, 0, 1), QueueRight.PEEK_MESSAGE, id="read the feed"),
    pytest.param(
        lambda _: feed.OpenConsumer(0, "orders", "lake"), QueueRight.RECEIVE_MESSAGE, id="open a consumer"
    ),
    pytest.param(
        lambda _: feed.MoveConsumer(0, "orders", "lake", 0), QueueRight.RECEIVE_MESSAGE, id="move a consumer"
    ),
    pytest.param(
        lambda _: feed.DropConsumer(0, "orders", "lake"), QueueRight.RECEIVE_MESSAGE, id="drop a consumer"
    ),
    pytest.param(
        lambda _: feed.SetConsumer(0, "orders", "lake"), QueueRight.RECEIVE_MESSAGE, id="set a consumer"
    ),
    pytest.param(
        lambda _: feed.ResetConsumer(0, "orders", "lake"), QueueRight.RECEIVE_MESSAGE, id="reset a consumer"
    ),
    pytest.param(
        lambda _: feed.FindArrivalNumber(0, "orders", 0, 0), QueueRight.PEEK_MESSAGE, id="find a number"
    ),
]


@pytest.mark.parametrize(("make", "right"), REQUESTS)
def test_a_request_with_its_right_alone_is_accepted(make: Make, right: QueueRight) -> None:
    check_allowed(make, right)


@pytest.mark.parametrize(("make", "right"), REQUESTS)
def test_a_request_without_its_right_is_refused_and_changes_nothing(make: Make, right: QueueRight) -> None:
    check_refused(make, right)
