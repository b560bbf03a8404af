"""Tests that facts about objects of the directory change memory and rows alike."""

from __future__ import annotations

from uuid import UUID

from reliquary.queueing.model import facts
from reliquary.queueing.model.directory.objects import ObjectKind, Site
from reliquary.queueing.model.tables import DIRECTORY, DirectoryRow, directory_key
from tests.queueing.fact_bench import FactBench
from tests.queueing.state_checks import every

IDENTIFIER = UUID(int=5)


def test_an_object_of_the_directory_is_kept_by_its_type_and_identifier(made: FactBench) -> None:
    site = Site(identifier=IDENTIFIER, name="north")
    made.apply(facts.DirectoryObjectWritten(site))
    assert every(made.state, DIRECTORY) == {directory_key(ObjectKind.SITE, IDENTIFIER): DirectoryRow(site)}
    made.apply(facts.DirectoryObjectRemoved(ObjectKind.SITE, IDENTIFIER))
    assert every(made.state, DIRECTORY) == {}
    assert made.state.directory.objects[ObjectKind.SITE] == {}
