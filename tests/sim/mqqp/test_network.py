"""Tests calls between sites: their order, their losses, and what both ends notice."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.time import SECOND
from reliquary.base.turn import Effect
from reliquary.protocols.mqqp.effects import EndAssociation, EndLink, RaiseFault
from reliquary.protocols.mqqp.events import CallCancelled, LinkLost, ServerFaulted, ServerResponded
from reliquary.queueing.travel.failures import Failure
from reliquary.sim.history import Violation
from reliquary.sim.mqqp.connections import Plan
from tests.sim.mqqp.two_sites import OPEN, VERSION, VERSION_CALL, TwoSites, ends


def linked(plan: Plan = Plan.EACH, seed: int = 1, **faults: Any) -> TwoSites:
    """Return two sites with a link whose association is known to both."""
    sites = TwoSites(seed, plan)
    sites.call(VERSION_CALL)
    sites.passes()
    sites.respond(sites.arrived.pop())
    sites.passes()
    sites.client.events.clear()
    sites.server.events.clear()
    for name, value in faults.items():
        setattr(sites.faults, name, value)
    return sites


def failures(sites: TwoSites) -> list[Failure]:
    return [each.failure for each in sites.client.events if isinstance(each, LinkLost)]


# -- calls and their answers


@pytest.mark.parametrize("plan", Plan)
def test_a_call_arrives_under_the_numbers_of_the_server_and_its_response_under_those_of_the_client(
    plan: Plan,
) -> None:
    sites = TwoSites(plan=plan)
    sites.call(OPEN, VERSION_CALL)
    sites.passes()
    assert {each.association for each in sites.bound} == {each.association for each in sites.arrived}
    apart = plan in (Plan.APART, Plan.MANY)
    assert len({each.association for each in sites.bound}) == (2 if apart else 1)
    assert {each.interface for each in sites.bound} == {"qmcomm", "qm2qm"}
    version = next(each for each in sites.arrived if each.request == VERSION_CALL)
    sites.respond(version)
    sites.passes()
    assert sites.client.events == [ServerResponded(1, 2, VERSION)]


@pytest.mark.parametrize(
    ("plan", "connections"), [(Plan.ONE, 1), (Plan.EACH, 2), (Plan.APART, 2), (Plan.MANY, 3)], ids=str
)
def test_a_link_has_as_many_connections_as_its_plan_says(plan: Plan, connections: int) -> None:
    sites = TwoSites(plan=plan)
    sites.call(OPEN)
    sites.passes()
    sites.call(*ends(2))
    sites.passes()
    assert len({each.connection for each in sites.arrived}) == connections


def test_calls_of_a_connection_arrive_in_their_order_and_responses_come_as_they_are_given() -> None:
    sites = linked()
    sites.call(*ends(3))
    sites.passes()
    assert [each.request for each in sites.arrived] == ends(3)
    for called in reversed(sites.arrived):
        sites.respond(called)
    sites.passes()
    assert [each.call for each in sites.client.events] == [4, 3, 2]


def test_a_fault_comes_to_the_client() -> None:
    sites = linked()
    sites.call(VERSION_CALL)
    sites.passes()
    called = sites.arrived[0]
    sites.serve(RaiseFault(called.connection, called.call, 5))
    sites.passes()
    assert sites.client.events == [ServerFaulted(1, 2, 5)]


def test_a_call_that_is_answered_twice_is_found() -> None:
    sites = linked()
    sites.call(VERSION_CALL)
    sites.passes()
    sites.respond(sites.arrived[0])
    with pytest.raises(Violation, match="answered twice"):
        sites.respond(sites.arrived[0])


def test_an_effect_that_is_not_of_mqqp_is_an_error() -> None:
    with pytest.raises(AssertionError, match="has no effect"):
        TwoSites().perform(Effect())


# -- ends of links


@pytest.mark.parametrize(
    ("plan", "connections", "associations"),
    [(Plan.ONE, 1, 1), (Plan.EACH, 2, 1), (Plan.APART, 2, 2), (Plan.MANY, 3, 2)],
    ids=str,
)
def test_a_link_that_its_client_ends_is_noticed_by_the_server_alone(
    plan: Plan, connections: int, associations: int
) -> None:
    sites = linked(plan)
    sites.call(OPEN, *ends(2))
    sites.passes()
    sites.perform(EndLink(1))
    for called in sites.arrived[1:]:
        sites.respond(called)
    sites.passes()
    assert sites.client.events == []
    assert sorted(sites.losses) == ["AssociationLost"] * associations + ["ConnectionLost"] * connections
    assert sites.losses[-1] == "AssociationLost"


def test_a_call_over_a_link_that_is_lost_goes_nowhere() -> None:
    sites = linked()
    sites.perform(EndLink(1))
    sites.call(VERSION_CALL)
    sites.passes()
    assert not sites.arrived
    assert not sites.client.events


def test_the_end_of_a_link_that_was_never_begun_changes_nothing() -> None:
    sites = TwoSites()
    sites.perform(EndLink(1))
    sites.passes()
    assert not sites.server.events


def test_when_a_server_ends_an_association_both_sides_notice() -> None:
    sites = linked()
    sites.call(VERSION_CALL)
    sites.passes()
    sites.serve(EndAssociation(sites.arrived[0].association))
    sites.passes()
    assert sites.losses == ["ConnectionLost", "AssociationLost"]
    assert failures(sites) == [Failure.LOST]
    sites.respond(sites.arrived[0])  # its connection is gone: nothing is done


# -- trouble


def test_no_site_has_this_name() -> None:
    sites = TwoSites()
    sites.call(VERSION_CALL, server="nobody")
    sites.passes()
    assert failures(sites) == [Failure.NO_ADDRESS]


def test_no_process_runs_there() -> None:
    sites = TwoSites()
    sites.there.end()
    sites.call(VERSION_CALL)
    sites.passes()
    assert failures(sites) == [Failure.NO_CONNECTION]


def test_a_call_that_is_lost_was_never_made_and_the_link_is_found_lost() -> None:
    sites = linked(lost=1.0)
    sites.call(VERSION_CALL)
    sites.passes(2 * SECOND)
    assert not sites.arrived
    assert failures(sites) == [Failure.TIMED_OUT]
    assert sites.losses == ["ConnectionLost", "AssociationLost"]


def test_a_call_whose_response_is_lost_was_made() -> None:
    sites = linked(answer_lost=1.0)
    sites.call(VERSION_CALL)
    sites.passes()
    sites.respond(sites.arrived[0])
    sites.passes(2 * SECOND)
    assert failures(sites) == [Failure.TIMED_OUT]


def test_a_connection_that_is_cut_delivers_a_beginning_of_what_was_on_it() -> None:
    beginnings = set()
    for seed in range(150):
        sites = linked(seed=seed, cut=0.5)
        sites.call(*ends(3))
        sites.passes()
        assert [each.request for each in sites.arrived] == ends(3)[: len(sites.arrived)]
        beginnings.add(len(sites.arrived))
    assert beginnings == {0, 1, 2, 3}


def test_a_connection_on_which_nothing_is_may_be_cut_too() -> None:
    noticed = set()
    for seed in range(20):
        sites = TwoSites(seed, Plan.EACH, cut_every=SECOND)
        sites.call(VERSION_CALL)
        sites.passes(SECOND // 5)
        if sites.arrived:
            sites.respond(sites.arrived[0])
        sites.passes(3 * SECOND)
        sites.faults.end()
        assert sites.losses == ["ConnectionLost", "AssociationLost"]
        noticed.add(bool(failures(sites)))
    assert noticed == {True, False}  # a client may notice it when it calls again


def test_a_server_may_notice_the_end_of_a_connection_late() -> None:
    early = 0
    for seed in range(10):
        sites = linked(seed=seed, end_unnoticed=1.0, latest_notice=10 * SECOND)
        sites.perform(EndLink(1))
        sites.passes()
        early += bool(sites.losses)
        sites.passes(10 * SECOND)
        assert sites.losses == ["ConnectionLost", "AssociationLost"]
    assert early < 4


def test_a_call_that_a_runtime_rejects_never_arrives() -> None:
    sites = linked(rejected=1.0)
    sites.call(VERSION_CALL)
    sites.passes()
    assert not sites.arrived
    assert [type(each) for each in sites.client.events] == [ServerFaulted]


def test_a_call_that_is_cancelled_is_still_answered_and_one_that_is_forgotten_is_not() -> None:
    answered: set[bool] = set()
    for seed in range(30):
        sites = linked(seed=seed, cancelled=1.0)
        sites.call(VERSION_CALL)
        sites.passes(SECOND)
        cancels = [each for each in sites.server.events if isinstance(each, CallCancelled)]
        forgotten = any(each.forgotten for each in cancels)
        sites.respond(sites.arrived[0])
        sites.passes()
        assert bool(sites.client.events) is not forgotten
        answered |= {each.forgotten for each in cancels}
    assert answered == {True, False}


def test_sites_that_are_separated_do_not_reach_each_other() -> None:
    sites = linked()
    sites.network._partitions._separated.add(frozenset(("a.example", "b.example")))
    sites.call(VERSION_CALL)
    sites.call(VERSION_CALL, link=2)
    sites.passes(2 * SECOND)
    assert not sites.arrived
    assert failures(sites) == [Failure.TIMED_OUT, Failure.TIMED_OUT]


# -- crashes


def test_a_server_that_crashes_is_noticed_by_its_client() -> None:
    sites = linked()
    sites.there.end()
    sites.passes()
    assert failures(sites) == [Failure.LOST]


def test_a_client_that_crashes_is_noticed_by_its_server() -> None:
    sites = linked()
    sites.here.end()
    sites.passes()
    assert sites.losses == ["ConnectionLost", "AssociationLost"]
    assert not sites.client.events


def test_a_new_process_knows_no_association_of_the_old_one() -> None:
    sites = linked(Plan.EACH, latest_notice=10 * SECOND, end_unnoticed=1.0)
    sites.there.end()
    sites.there.process = type(sites.server)()
    sites.call(OPEN)
    sites.passes()
    assert failures(sites) == [Failure.LOST]
    assert not sites.there.process.events
