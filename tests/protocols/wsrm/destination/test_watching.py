"""The destination watches the room of the queues that its open sequences fill."""

from __future__ import annotations

from reliquary.protocols.wsrm.codec.values import Dialect, Envelope, TerminateSequence
from tests.protocols.wsrm.destination.rmd import Rmd


def test_a_queue_is_watched_while_it_has_open_sequences() -> None:
    rmd = Rmd()
    one, two = rmd.create(), rmd.create()
    other = rmd.create(endpoint="bills")
    assert rmd.watched == {"orders", "bills"}
    rmd.post(Envelope(dialect=Dialect(), body=TerminateSequence(one)))
    assert rmd.watched == {"orders", "bills"}
    rmd.post(Envelope(dialect=Dialect(), body=TerminateSequence(two)))
    assert rmd.watched == {"bills"}
    rmd.post(Envelope(dialect=Dialect(), body=TerminateSequence(other)), endpoint="bills")
    assert rmd.watched == frozenset()
    assert not rmd.here.targets


def test_a_start_watches_all_queues_of_open_sequences_again() -> None:
    rmd = Rmd()
    rmd.create()
    ended = rmd.create(endpoint="bills")
    rmd.post(Envelope(dialect=Dialect(), body=TerminateSequence(ended)), endpoint="bills")
    rmd.watched = frozenset()
    rmd.restart()
    assert rmd.watched == {"orders"}
    assert set(rmd.here.targets) == {"orders"}
