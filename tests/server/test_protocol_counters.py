"""Tests the metrics that protocols have in common: streams of both kinds, and messages by protocol."""

from __future__ import annotations

from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.protocols.mqqp.tables import TABLES
from reliquary.server.protocol_counters import MESSAGES, STREAMS, families
from reliquary.store import MemoryDisk, StagedRows
from tests.client.test_streams import Machines
from tests.protocols.mqqb.mqqb_harness import MqqbBench
from tests.protocols.srmp.sending import Sender


def machines() -> Machines:
    """Return a manager with a stream of SRMP that goes, and one of MQQB that comes."""
    srmp, mqqb = Sender(), MqqbBench()
    srmp.stream(b"a", b"b")
    mqqb.create("ledger", transactional=True)
    mqqb.accepted().user(b"1", to="TCP:10.0.0.2\\private$\\ledger", stream=(1, 0))
    return Machines(srmp, mqqb.machines["mqqb"], Mqqp(StagedRows(MemoryDisk(TABLES)), MqqpSettings()))


def test_streams_of_both_protocols_are_in_one_metric() -> None:
    found = {each.metric: each.samples for each in families(machines())}
    assert found.keys() == {MESSAGES, *STREAMS}
    for metric in STREAMS:
        labels = [tuple(labels[name] for name in ("protocol", "direction")) for labels, _ in found[metric]]
        assert labels == [("srmp", "out"), ("mqqb", "in")]
    assert [value for _, value in found[STREAMS[0]]] == [2, 1]


def test_messages_are_counted_by_protocol_and_direction() -> None:
    both = machines()
    travel, mqqp = both.state.travel, both.machine(Mqqp).state
    travel.taken["srmp"], travel.delivered["srmp"] = 3, 4
    mqqp.client.taken, mqqp.server.taken = 5, 6
    counted = next(iter(families(both))).samples
    assert {(labels["protocol"], labels["direction"]): value for labels, value in counted if value} == {
        ("srmp", "in"): 3, ("srmp", "out"): 4, ("mqqp", "in"): 5, ("mqqp", "out"): 6,
    }  # fmt: skip
