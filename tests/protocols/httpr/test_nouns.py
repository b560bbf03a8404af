"""Tests channels as a noun: what is declared is what the views and the machine know."""

from __future__ import annotations

from typing import TypeVar

from reliquary.protocols.httpr.events import ForgetChannel, ReportChannel, SettleChannel
from reliquary.protocols.httpr.machine import TAKES
from reliquary.protocols.httpr.nouns import CHANNEL
from reliquary.protocols.httpr.views import channel, channels
from reliquary.queueing.model.administration import View
from reliquary.queueing.model.security.principals import MANAGER
from tests.protocols.httpr.far_server import ORDERS, ClientBench

M = TypeVar("M")


class Machines:
    """A queue manager that runs HTTPR, as the console sees it."""

    def __init__(self, bench: ClientBench) -> None:
        self.state = bench.state
        self._httpr = bench.httpr

    def machine(self, kind: type[M]) -> M:
        assert isinstance(self._httpr, kind)
        return self._httpr


def test_a_channel_is_listed_and_found_by_its_number() -> None:
    bench = ClientBench()
    bench.send(ORDERS, b"a")
    view, httpr = View(Machines(bench), MANAGER), bench.httpr.state
    listed = list(CHANNEL.listing.records(view))
    assert len(listed) == 1
    assert listed == list(channels(bench.state, httpr))
    assert CHANNEL.showing is not None
    assert CHANNEL.showing.record(view, 1) == channel(bench.state, httpr, 1)
    assert CHANNEL.showing.record(view, 9) is None


def test_an_act_is_an_event_that_the_machine_takes() -> None:
    settle = CHANNEL.act("settle")
    given = {each.name: True for each in settle.parameters}
    asked = [
        CHANNEL.act("report").event(7, 1),
        CHANNEL.act("forget").event(7, 1),
        settle.event(7, 1, **given),
    ]
    assert asked == [ReportChannel(7, 1), ForgetChannel(7, 1), SettleChannel(7, 1, arrived=True)]
    assert {type(event) for event in asked} <= set(TAKES)


def test_a_decision_is_not_sent_twice() -> None:
    assert [act.verb for act in CHANNEL.acts if not act.repeatable] == ["settle"]
