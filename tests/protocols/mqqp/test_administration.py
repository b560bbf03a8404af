"""An administrator closes associations of both directions."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.protocols.mqqp.effects import EndAssociation
from reliquary.protocols.mqqp.events import CloseAssociation
from reliquary.queueing.model.administration import Done
from tests.protocols.mqqp.client.two_managers import TwoManagers
from tests.protocols.mqqp.server.server_harness import ServerBench


def test_the_connections_of_a_client_are_closed() -> None:
    bench = ServerBench()
    client = bench.client()
    turn = bench.core.turn(CloseAssociation(7, f"in-{client.association}"), bench.now)
    assert EndAssociation(client.association) in turn.effects


def test_a_queue_elsewhere_is_closed_and_what_was_held_is_there_again() -> None:
    two = TwoManagers(b"one")
    handle = two.open()
    assert two.receive(handle, hold=60).status is HResult.OK
    waiting = two.begin_receiving(handle)
    (link,) = two.here.client.links
    assert two.ask(CloseAssociation(0, f"out-{link}")) == Done(True)
    answer = two.answer_to(waiting)
    assert answer.status is HResult.OPERATION_CANCELLED
    assert "administrator" in answer.why
    assert two.ended == [link]
    assert two.there.bodies() == [b"one"]
    assert not two.here.client.links


@pytest.mark.parametrize("name", ["in-1", "out-1", "in-", "in-x", "1", ""])
def test_an_unknown_association_is_refused_with_its_name(name: str) -> None:
    done = TwoManagers().ask(CloseAssociation(0, name))
    assert done == Done(False, f"there is no association {name}")
