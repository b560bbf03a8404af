"""Each event, signal and timer has its rule."""

from __future__ import annotations

import inspect

from reliquary.base.turn import Event
from reliquary.protocols.wsrm import events, machine
from reliquary.queueing.model.travel.transfer import AddressesKnown
from tests.protocols.wsrm.wsrm_harness import HOST, WsrmBench


def test_every_event_has_a_rule() -> None:
    known = {each for _, each in inspect.getmembers(events, inspect.isclass) if issubclass(each, Event)}
    assert known - {Event} == set(machine.TAKES)


def test_the_manager_gets_the_urls_that_mean_it() -> None:
    bench = WsrmBench()
    (known,) = [each for each in bench.signals if isinstance(each, AddressesKnown)]
    assert known.schemes == ("WSRM", "WSRMS")
    assert HOST in known.authorities
    bench.send(f"wsrm://{HOST}/wsrm/orders", b"to ourselves")
    assert bench.bodies() == [b"to ourselves"]
