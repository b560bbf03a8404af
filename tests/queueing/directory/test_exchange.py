"""Tests that directory objects are read from text and written as text."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from reliquary.base.faults import UsageError
from reliquary.queueing.directory import exchange
from reliquary.queueing.directory.queries import Filter, Operator
from reliquary.queueing.model.directory.holdings import Directory
from reliquary.queueing.model.directory.objects import (
    ConnectedNetwork,
    DirectoryObject,
    DistributionList,
    Enterprise,
    ManagerObject,
    ObjectKind,
    QueueObject,
    RoutingLink,
    Site,
    User,
)
from reliquary.queueing.model.queue import OperatingSystemType, QueuePrivacy

ONE, TWO = UUID(int=1), UUID(int=2)

EVERYTHING: list[DirectoryObject] = [
    Enterprise(identifier=ONE, name="all", non_ldap_notification=False),
    Site(identifier=TWO, name='no"rth\\', public_signing_keys=(b"\0\xff",)),
    Site(identifier=ONE, name="süd"),
    RoutingLink(identifier=ONE, site1=ONE, site2=TWO, actual_cost=7, site_gates=(ONE,)),
    ConnectedNetwork(identifier=ONE, name="mainframe"),
    ManagerObject(identifier=ONE, computer_name="OTHER", operating_system_type=OperatingSystemType.WIN_ENT),
    QueueObject(
        identifier=ONE, pathname="OTHER\\orders", privacy=QueuePrivacy.BODY, multicast_address="224.1.1.1:1"
    ),
    User(identifier=ONE, security_identifier="S-1-5-21-1", certificate_digests=(bytes(16),)),
    DistributionList(identifier=ONE, name="shops", format_names=("DIRECT=OS:a\\x",)),
]


def filled() -> Directory:
    directory = Directory()
    for subject in EVERYTHING:
        directory.put(subject)
    return directory


def test_what_is_exported_and_imported_is_exported_unchanged() -> None:
    text = exchange.export_text(filled())
    again = Directory()
    for subject in exchange.import_text(text):
        again.put(subject)
    assert again.objects == filled().objects
    assert exchange.export_text(again) == text
    assert text.index("[[enterprise]]") < text.index("[[site]]") < text.index("[[distribution-list]]")
    assert exchange.import_text(exchange.export_text(Directory())) == ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name = ", "this is not TOML: Invalid value .at "),
        ("[[house]]\nname = 'x'", "'house' is no type of directory object; these are enterprise, site"),
        ("[site]\nname = 'x'", r"objects are written as \[\[site\]\]"),
        ("site = 'x'", r"objects are written as \[\[site\]\]"),
        ("[[site]]\nname = 'x'", "line 1: site 1: identifier is missing"),
        (f"[[site]]\nidentifier='{ONE}'\nname='a'\n\n[[site]]\nidentifier='{TWO}'\nname=7",
         "line 5: site 2: name: Expected `str`, got `int`"),
        (f"[[site]]\nidentifier='{ONE}'\nname='a'\ncolour='red'",
         "line 1: site 1: site has no attribute 'colour'"),
        ("[[site]]\nidentifier='x'", "line 1: site 1: identifier: Invalid UUID"),
        (f"\n[[ routing-link ]]\nidentifier='{ONE}'\nsite1='{ONE}'\nsite2='{TWO}'\nactual_cost=0",
         "line 2: routing-link 1: actual_cost is 1 to 999999, not 0"),
        (f"site = [{{identifier='{ONE}'}}]", "^site 1: name is empty"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_file_is_reported_with_its_line_and_attribute(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        exchange.import_text(text)


def test_an_object_is_shown_with_every_attribute() -> None:
    fields = exchange.fields_of(Site(identifier=ONE, name="north", security=b"\1"))
    assert list(fields)[:2] == ["identifier", "name"]
    assert (fields["identifier"], fields["foreign_site"], fields["security"]) == (str(ONE), False, "AQ==")
    assert exchange.subject_of(ObjectKind.SITE, fields) == Site(identifier=ONE, name="north", security=b"\1")


def test_an_attribute_that_is_not_there_or_not_so_is_named() -> None:
    with pytest.raises(UsageError, match="site has no attribute 'kind'"):
        exchange.subject_of(ObjectKind.SITE, {"kind": "user"})
    with pytest.raises(UsageError, match="foreign_site: Expected `bool`"):
        exchange.subject_of(ObjectKind.SITE, {"foreign_site": "yes"})


@pytest.mark.spec("DM-005")
def test_a_change_names_attributes_and_never_the_identifier() -> None:
    subject, attributes = exchange.changed(ObjectKind.SITE, ONE, {"name": "b"})
    assert (subject, attributes) == (Site(identifier=ONE, name="b"), ("name",))
    with pytest.raises(UsageError, match="identifier of an object cannot be changed"):
        exchange.changed(ObjectKind.SITE, ONE, {"identifier": str(TWO)})
    with pytest.raises(UsageError, match="name an attribute"):
        exchange.changed(ObjectKind.SITE, ONE, {})


def test_a_condition_is_an_attribute_an_operator_and_a_value() -> None:
    assert exchange.condition("actual_cost <= 9") == Filter("actual_cost", Operator.LESS_THAN_OR_EQUAL, "9")
    assert exchange.conditions(["a=b=c", "d!="]) == (
        Filter("a", Operator.EQUALS, "b=c"),
        Filter("d", Operator.NOT_EQUALS, ""),
    )
    with pytest.raises(UsageError, match="a condition is ATTRIBUTE=VALUE"):
        exchange.condition("cheap")


@pytest.mark.parametrize(
    ("kind", "name", "text", "value"),
    [
        ("routing-link", "actual_cost", "7", 7),
        ("site", "foreign_site", "true", True),
        ("site", "name", "7", "7"),
        ("queue", "multicast_address", "", None),
        ("queue", "privacy", "body", "body"),
        ("distribution-list", "format_names", "a, b,", ["a", "b"]),
    ],
)
def test_a_word_of_a_command_line_becomes_what_the_attribute_holds(
    kind: str, name: str, text: str, value: Any
) -> None:
    assert exchange.value_of(kind, name, text) == value


def test_a_word_that_the_attribute_cannot_hold_is_refused() -> None:
    with pytest.raises(UsageError, match="actual_cost cannot be 'high'"):
        exchange.value_of("routing-link", "actual_cost", "high")
    with pytest.raises(UsageError, match="site has no attribute 'colour'"):
        exchange.value_of("site", "colour", "red")
