"""The objects of the directory, written and found again."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.queueing import facts
from reliquary.queueing.apply import apply
from reliquary.queueing.directory.objects import DistributionList, Kind, Site
from reliquary.queueing.directory.registry import resolve_list
from tests.queueing.manager_harness import Bench, check, durable

LIST = DistributionList(
    identifier=UUID(int=7), name="shops", format_names=("DIRECT=OS:a\\x", "DIRECT=OS:b\\x")
)


def test_a_distribution_list_stands_for_its_format_names() -> None:
    bench = Bench()
    apply(bench.state, facts.DirectoryObjectWritten(LIST))
    assert resolve_list(bench.state, LIST.identifier) == LIST.format_names
    assert resolve_list(bench.state, UUID(int=8)) is None


@pytest.mark.spec("DM-003")
def test_what_was_written_is_there_after_a_restart_and_what_was_removed_is_not() -> None:
    bench = Bench()
    site = Site(identifier=UUID(int=1), name="north")
    apply(bench.state, facts.DirectoryObjectWritten(LIST))
    apply(bench.state, facts.DirectoryObjectWritten(site))
    apply(bench.state, facts.DirectoryObjectRemoved(Kind.SITE, site.identifier))
    bench.flush()
    live = durable(bench.state)
    bench.restart(crash=True, start=False)
    assert durable(bench.state) == live
    check(bench.state)
    assert bench.state.directory.objects[Kind.DISTRIBUTION_LIST] == {LIST.identifier: LIST}
    assert bench.state.directory.objects[Kind.SITE] == {}
