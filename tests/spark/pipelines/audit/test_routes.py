"""Tests that the managers which a queue sends to are found."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.spark.pipelines.audit.coverage import TracedQueue
from reliquary.spark.pipelines.audit.routes import host, routes

OUT = TracedQueue(1, 10, "a", "alpha", "DIRECT=HTTP://Beta:8480/msmq/private$/orders", "outgoing")
HERE = TracedQueue(2, 20, "b", "beta", "orders", "local")
THERE = TracedQueue(3, 30, "c", "gamma", "beta", "local")


@pytest.mark.parametrize(
    ("name", "computer"),
    [
        ("DIRECT=HTTPS://beta.example/msmq/orders", "beta.example"),
        (r"DIRECT=OS:.\private$\orders", "."),
        ("DIRECT=TCP:10.0.0.1\\private$\\x", "10.0.0.1"),
        ("DIRECT=HTTPR://b.example/httpr/mq#inbox", "b.example"),
        ("", ""),
    ],
)
def test_the_computer_is_in_the_name(name: str, computer: str) -> None:
    assert host(name) == computer


def test_a_name_leads_to_the_manager_of_this_name() -> None:
    assert routes((OUT, HERE, THERE), {}, {}) == {1: frozenset({"b"})}


def test_what_was_seen_counts_more_than_a_name() -> None:
    assert routes((OUT, HERE, THERE), {1: frozenset({"b", "c"})}, {})[1] == {"b", "c"}


@pytest.mark.parametrize("name", ["beta", "DIRECT=http://beta:8480/msmq/private$/orders"])
def test_what_is_given_counts_most(name: str) -> None:
    assert routes((OUT, HERE, THERE), {1: frozenset({"b"})}, {name: "Gamma"})[1] == {"c"}
    assert routes((OUT, HERE, THERE), {}, {name: "c"})[1] == {"c"}


def test_a_manager_without_history_is_refused() -> None:
    with pytest.raises(
        UsageError, match="--route shop=delta: no history is of a manager delta; there are: alpha"
    ):
        routes((OUT,), {}, {"shop": "delta"})
