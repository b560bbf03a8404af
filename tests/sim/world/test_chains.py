"""Tests that messages which change their protocol on the way arrive once and in order, or that an error is
found."""

from __future__ import annotations

from collections import Counter
from functools import partial
from typing import Any

import pytest

from reliquary.protocols.httpr import routing
from reliquary.protocols.srmp import arrivals
from reliquary.protocols.srmp.codec.values import MessageKind
from reliquary.protocols.srmp.receiver import messages as srmp_messages
from reliquary.queueing.travel.crossing import as_sent_onward
from reliquary.sim.httpr.plugin import HttprPlugin
from reliquary.sim.srmp.plugin import SrmpPlugin
from reliquary.sim.world.applications import LEDGER
from reliquary.sim.world.plugin import Plugin
from reliquary.sim.world.promises import Deliveries
from reliquary.sim.world.run import World, simulate
from tests.sim.seeds import check_seeds, find_failure

KINDS: dict[Any, Any] = arrivals._KINDS
BOTH: tuple[type[Plugin], ...] = (SrmpPlugin, HttprPlugin)
run = partial(simulate, plugins=BOTH)


def test_no_promise_is_broken_where_messages_change_their_protocol() -> None:
    check_seeds(run, 1, 6)


@pytest.mark.long
@pytest.mark.timeout(600)
@pytest.mark.parametrize("first", range(10_001, 10_301, 50))
def test_no_promise_is_broken_in_hundreds_of_seeds(first: int) -> None:
    check_seeds(run, first, 50)


@pytest.mark.long
def test_messages_go_both_ways_over_three_sites() -> None:
    arrived: Counter[tuple[str, ...]] = Counter()
    for seed in range(1, 6):
        world = World(seed, BOTH)
        world.play(world.steps)
        deliveries = Deliveries(world.register)
        for chain in world.chains:
            assert len(set(chain.sites)) == 3
            for sending in world.register.sendings.values():
                if sending.queue == chain.entry:
                    came = deliveries.arrivals[sending.body]
                    assert {(each.site, each.name) for each in came} <= {(chain.sites[-1], LEDGER)}
                    arrived[tuple(plugin.name for plugin in chain.plugins)] += len(came)
    assert min(arrived["srmp", "httpr"], arrived["httpr", "srmp"]) > 2


def test_one_protocol_alone_has_no_chain() -> None:
    assert World(1, [SrmpPlugin]).chains == ()


# -- what is broken on purpose is found


def test_a_gateway_that_keeps_a_name_of_the_first_protocol_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    def keeps(message: Any, transaction: Any) -> Any:
        return message

    monkeypatch.setattr(routing, "as_sent_onward", keeps)
    monkeypatch.setattr(srmp_messages, "as_sent_onward", keeps)
    assert find_failure(run, range(1, 31), "srmp+httpr")


def test_a_gateway_that_drops_the_transaction_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the transaction messages have no stream in SRMP, and a transactional queue refuses them."""

    def alone(message: Any, transaction: Any) -> Any:
        return as_sent_onward(message, None)

    monkeypatch.setattr(routing, "as_sent_onward", alone)
    assert find_failure(run, range(1, 31), "srmp+httpr")


def test_a_gateway_that_passes_on_what_it_knew_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    real = srmp_messages.take_message

    def again(state: Any, to: int, arrived: Any, way: Any, now: Any) -> None:
        if way.crosses:
            state.incoming.pop((arrived.envelope.stream.sender, way.name), None)
            state.history.durable.clear()
        real(state, to, arrived, way, now)

    monkeypatch.setitem(KINDS, MessageKind.USER_MESSAGE, again)
    assert find_failure(run, range(1, 41), "srmp+httpr")
