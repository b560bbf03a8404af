"""Tests how long a query waits for a server that is away."""

from __future__ import annotations

from pathlib import Path

import pytest

import reliquary
from reliquary.client.errors import AccessDenied, ServerUnreachable
from reliquary.net.identity.users import User
from reliquary.spark.access import Access, parse_managers
from reliquary.spark.connection import LONGEST, connected, pauses
from tests.client.served import served
from tests.net.identity.cheap_hash import cheap_hash


@pytest.mark.parametrize("seconds", [0.1, 3.0, 60.0, 3600.0])
def test_the_waits_grow_and_last_as_long_as_they_should(seconds: float) -> None:
    waits = pauses(seconds)
    assert sum(waits) == pytest.approx(seconds)
    assert max(waits) <= LONGEST
    assert all(wait > 0 for wait in waits)


def test_a_user_and_a_password_say_who_asks(tmp_path: Path) -> None:
    root = User(name="root", password_hash=cheap_hash("secret"), groups=("administrators",))
    with served(tmp_path, users=(root,)) as running:
        with reliquary.connect(
            running.data, control=running.control, user="root", password="secret"
        ) as there:
            there.create_queue("orders")
        [right] = parse_managers({"url": running.data, "user": "root", "password": "secret"})
        with connected(right) as client:
            client.open_consumer("orders", "lake", "earliest")
            assert [each.name for each in client.consumers("orders")] == ["lake"]
        [wrong] = parse_managers({"url": running.data, "user": "root", "password": "guessed"})
        with connected(wrong) as client, pytest.raises(AccessDenied):
            client.open_consumer("orders", "lake", "earliest")


def test_no_connection_is_opened_before_the_first_call() -> None:
    with connected(Access("http://127.0.0.1:9", timeout=0.01)) as client, pytest.raises(ServerUnreachable):
        client.feeds(["orders"])
