"""Tests of filters, attribute lists and the order of results in directory reads."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.faults import UsageError
from reliquary.queueing.directory.queries import (
    COMPARE,
    AttributeMissing,
    Filter,
    Operator,
    SortOrder,
    check_attributes,
    in_order,
    matcher,
    project,
)
from reliquary.queueing.model.directory.objects import (
    DirectoryObject,
    Enterprise,
    ManagerObject,
    ObjectKind,
    QueueObject,
    RoutingLink,
)
from reliquary.queueing.model.queue import OperatingSystemType

LINKS = [RoutingLink(identifier=UUID(int=20 - cost), actual_cost=cost) for cost in (5, 1, 9)]


def costs(*filters: Filter) -> list[int]:
    matches = matcher(ObjectKind.ROUTING_LINK, filters)
    return [link.actual_cost for link in LINKS if matches(link)]


@pytest.mark.spec("DM-243")
@pytest.mark.parametrize(
    ("operator", "found"),
    [
        (Operator.EQUALS, [5]),
        (Operator.NOT_EQUALS, [1, 9]),
        (Operator.LESS_THAN, [1]),
        (Operator.GREATER_THAN, [9]),
        (Operator.LESS_THAN_OR_EQUAL, [5, 1]),
        (Operator.GREATER_THAN_OR_EQUAL, [5, 9]),
    ],
)
def test_the_six_operators_compare(operator: Operator, found: list[int]) -> None:
    assert costs(Filter("actual_cost", operator, 5)) == found
    assert len(COMPARE) == len(Operator) == 6


@pytest.mark.spec("DM-243")
def test_all_filters_must_let_an_object_through_and_none_lets_all() -> None:
    more, less = Filter("actual_cost", Operator.GREATER_THAN, 1), Filter("actual_cost", Operator.LESS_THAN, 9)
    assert costs(more, less) == [5]
    assert costs() == [5, 1, 9]


def test_text_compares_without_regard_to_case_and_values_are_parsed() -> None:
    manager = ManagerObject(computer_name="Here", operating_system_type=OperatingSystemType.WIN_SERVER)
    for attribute, value in (("computer_name", "HERE"), ("operating_system_type", "win-server")):
        assert matcher(ObjectKind.QUEUE_MANAGER, [Filter(attribute, Operator.EQUALS, value)])(manager)
    text = Filter("identifier", Operator.EQUALS, str(LINKS[0].identifier))
    assert costs(text) == [5]


def test_what_has_no_value_is_neither_less_nor_more() -> None:
    queue = QueueObject(pathname="A\\b")
    less = Filter("multicast_address", Operator.LESS_THAN, "z")
    assert not matcher(ObjectKind.QUEUE, [less])(queue)
    assert matcher(ObjectKind.QUEUE, [Filter("multicast_address", Operator.EQUALS, None)])(queue)


@pytest.mark.parametrize(
    ("attribute", "operator", "value", "why"),
    [
        ("actual_cost", Operator.EQUALS, "high", "actual_cost cannot be 'high'"),
        ("site_gates", Operator.LESS_THAN, [], "site_gates has no order"),
    ],
)
def test_a_filter_that_cannot_be_meant_is_refused(
    attribute: str, operator: Operator, value: Any, why: str
) -> None:
    with pytest.raises(UsageError, match=why):
        matcher(ObjectKind.ROUTING_LINK, [Filter(attribute, operator, value)])


def test_an_attribute_that_the_type_has_not_is_missing() -> None:
    with pytest.raises(AttributeMissing, match="routing-link has no attribute 'cost'"):
        matcher(ObjectKind.ROUTING_LINK, [Filter("cost", Operator.EQUALS, 1)])
    with pytest.raises(AttributeMissing):
        check_attributes(ObjectKind.SITE, ("name", "colour"))
    check_attributes(ObjectKind.SITE, None)


@pytest.mark.spec("DM-244")
def test_only_the_attributes_that_were_asked_for_are_returned() -> None:
    link = RoutingLink(identifier=UUID(int=1), actual_cost=7, description="cheap")
    assert project(link, ("actual_cost",)) == RoutingLink(identifier=UUID(int=1), actual_cost=7)
    assert project(link, None) is link


@pytest.mark.spec("DM-091")
def test_an_attribute_that_the_object_does_not_have_is_missing() -> None:
    with pytest.raises(AttributeMissing, match="does not say"):
        project(Enterprise(name="all"), ("non_ldap_notification",))
    said = Enterprise(name="all", non_ldap_notification=False)
    assert project(said, ("non_ldap_notification",)) == Enterprise(non_ldap_notification=False)


def ordered(attributes: tuple[str, ...], *order: SortOrder) -> list[DirectoryObject]:
    return in_order(LINKS, ObjectKind.ROUTING_LINK, attributes, order)


@pytest.mark.spec("DM-250")
def test_results_go_by_the_attribute_with_the_highest_priority() -> None:
    cheap = [
        RoutingLink(identifier=UUID(int=n), actual_cost=1, description=d) for n, d in ((1, "b"), (2, "A"))
    ]
    some = [*LINKS, *cheap]
    both = ("description", "actual_cost")
    found = in_order(some, ObjectKind.ROUTING_LINK, both, (SortOrder(1), SortOrder(2, ascending=False)))
    assert [(each.actual_cost, each.description) for each in found if isinstance(each, RoutingLink)] == [
        (9, ""), (5, ""), (1, ""), (1, "A"), (1, "b"),
    ]  # fmt: skip


@pytest.mark.spec("DM-250")
def test_a_priority_of_zero_is_no_order_and_then_the_identifier_decides() -> None:
    by_identifier = sorted(LINKS, key=lambda link: link.identifier)
    assert ordered(("actual_cost",), SortOrder(0)) == by_identifier
    assert ordered(("actual_cost",)) == by_identifier
    assert ordered(("actual_cost",), SortOrder(1)) == sorted(LINKS, key=lambda link: link.actual_cost)


def test_each_attribute_has_its_order_or_none_has() -> None:
    with pytest.raises(UsageError, match="2 sort orders are given for 1 attributes"):
        ordered(("actual_cost",), SortOrder(1), SortOrder(2))
    with pytest.raises(UsageError, match="site_gates has no order"):
        ordered(("site_gates",), SortOrder(1))
