"""The paths of nouns that the data plane has."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.net.api.administration import filters_of, routes_of
from reliquary.views.consumers import CONSUMER
from reliquary.views.transactions import TRANSACTION
from reliquary.views.writers import WRITER
from tests.net.api.harness import Harness, play
from tests.queueing.manager_harness import Bench
from tests.views.viewing import ManagerAlone


def test_a_noun_has_a_path_of_its_own_or_below_a_queue() -> None:
    machines = ManagerAlone(Bench().state)
    nouns = (WRITER, CONSUMER, TRANSACTION)
    assert [list(routes_of(noun, machines)) for noun in nouns] == [
        ["writers", "writers/*"], ["queues/*/consumers"], ["transactions", "transactions/*"],
    ]  # fmt: skip


def test_filters_have_the_values_that_their_kinds_say() -> None:
    assert filters_of(TRANSACTION, {"owner": "true", "ended": "true", "else": "x"}) == {
        "owner": "true", "ended": True,
    }  # fmt: skip
    assert filters_of(TRANSACTION, {}) == {}
    with pytest.raises(UsageError, match="ended is true or false, not 'maybe'"):
        filters_of(TRANSACTION, {"ended": "maybe"})


def test_records_are_in_an_object_under_their_plural() -> None:
    async def scene(harness: Harness) -> None:
        assert await harness.ok("GET", "/writers") == {"writers": []}
        assert await harness.ok("GET", "/queues/orders/consumers") == {"consumers": []}

    play(scene)


def test_what_the_noun_refuses_is_refused() -> None:
    async def scene(harness: Harness) -> None:
        refused = await harness.refused("GET", "/queues/nowhere/consumers")
        assert refused == (404, "QUEUE_NOT_FOUND", "there is no queue nowhere")
        assert (await harness.refused("GET", "/writers?query=q"))[:2] == (400, "INVALID_PARAMETER")

    play(scene)
