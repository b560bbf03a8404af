"""Tests the view of the directory for consoles and command lines."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.queueing.model.directory.integration import Integration
from reliquary.queueing.model.directory.objects import Enterprise, ObjectKind
from reliquary.views import directory as views
from tests.queueing.directory.harness import NORTH, add, add_sites, detach, integrated
from tests.queueing.manager_harness import Bench


def test_the_state_of_the_directory_is_shown_also_while_it_is_away() -> None:
    bench = integrated(directory=Integration(servers=("dc1",)))
    add_sites(bench)
    detach(bench)
    seen = views.status(bench.state)
    assert (seen.integrated, seen.attached, seen.connection) == (True, False, "offline")
    assert seen.servers == ("dc1",)
    assert (seen.objects["site"], seen.objects["queue-manager"], seen.objects["user"]) == (2, 1, 0)
    assert views.status(Bench().state).connection == "apart"


def test_objects_are_listed_by_condition_and_shown_by_identifier_or_name() -> None:
    bench = Bench()
    add_sites(bench)
    links = views.listed(bench.state, ObjectKind.ROUTING_LINK, ["actual_cost>1", "actual_cost<9"])
    assert [link["actual_cost"] for link in links] == [5]
    assert len(list(views.listed(bench.state, ObjectKind.SITE))) == 2
    assert views.shown(bench.state, ObjectKind.SITE, "NORTH") == views.shown(
        bench.state, ObjectKind.SITE, str(NORTH)
    )
    add(bench, Enterprise(name="All"))
    assert views.shown(bench.state, ObjectKind.ENTERPRISE, "all")["name"] == "All"
    assert "[[site]]" in views.exported(bench.state)


def test_a_name_that_several_have_names_none_of_them() -> None:
    bench = Bench()
    add_sites(bench)
    with pytest.raises(views.NotShown, match="the directory has no routing link ''"):
        views.found(bench.state, ObjectKind.ROUTING_LINK, "")


def test_what_is_not_there_is_reported_with_its_status() -> None:
    bench = Bench()
    add_sites(bench)
    for which in ("east", "00000000-0000-0000-0000-000000000009"):
        with pytest.raises(views.NotShown, match=f"the directory has no site '{which}'") as unknown:
            views.found(bench.state, ObjectKind.SITE, which)
        assert unknown.value.answer.status is HResult.OBJECT_NOT_FOUND
    with pytest.raises(views.NotShown) as no_attribute:
        views.listed(bench.state, ObjectKind.SITE, ["colour=red"])
    assert no_attribute.value.answer.status is HResult.PROPERTY
    with pytest.raises(UsageError, match="a condition is"):
        views.listed(bench.state, ObjectKind.SITE, ["red"])
    detach(bench)
    with pytest.raises(views.NotShown) as away:
        views.exported(bench.state)
    assert away.value.answer.status is HResult.NO_DS
