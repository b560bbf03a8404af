"""Tests which interfaces and transfer syntaxes a connection may use."""

from __future__ import annotations

from uuid import UUID

import pytest

from reliquary.protocols.rpc.presentation import Negotiated, PresentationContext, Violation, negotiate
from reliquary.wire.ndr.encoding import NDR20, NDR64
from reliquary.wire.rpc.binds import ContextElement, ContextResult, Reason, Result
from reliquary.wire.rpc.features import features_syntax
from reliquary.wire.rpc.syntaxes import EPM, MGMT, NDR20_SYNTAX, NDR64_SYNTAX, QM2QM, SyntaxId
from tests.protocols.rpc.links import INTERFACES, element

UNKNOWN = SyntaxId(UUID(int=7), 1)
KNOWN = {0: PresentationContext(QM2QM, NDR20_SYNTAX, NDR20)}
ACCEPTED = ContextResult(Result.ACCEPTED, 0, NDR20_SYNTAX)
NOT_SERVED = ContextResult(Result.PROVIDER_REJECTION, Reason.ABSTRACT_SYNTAX)
NOT_SPOKEN = ContextResult(Result.PROVIDER_REJECTION, Reason.TRANSFER_SYNTAXES)


def first(*elements: ContextElement, limit: int = 32) -> Negotiated:
    return negotiate(elements, {}, INTERFACES, limit, first=True)


def later(*elements: ContextElement, limit: int = 32) -> Negotiated:
    return negotiate(elements, KNOWN, INTERFACES, limit, first=False)


@pytest.mark.spec("QP-007", "QP-008")
@pytest.mark.mqqp("T03")
@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        ([NDR20_SYNTAX], NDR20),
        ([NDR64_SYNTAX], NDR64),
        ([NDR20_SYNTAX, NDR64_SYNTAX], NDR20),
        ([NDR64_SYNTAX, NDR20_SYNTAX], NDR64),
        ([UNKNOWN, NDR64_SYNTAX], NDR64),
    ],
    ids=["NDR alone", "NDR64 alone", "both", "both, NDR64 first", "NDR64 after an unknown one"],
)
def test_the_client_chooses_the_transfer_syntax(offered: list[SyntaxId], chosen: object) -> None:
    assert first(element(transfers=offered)).added[0].encoding == chosen


@pytest.mark.spec("QP-008")
@pytest.mark.mqqp("T03")
def test_a_client_that_offers_each_syntax_by_itself_gets_the_first() -> None:
    agreed = first(element(0), element(1, transfers=[NDR64_SYNTAX]), element(2, MGMT))
    assert agreed.results == (ACCEPTED, NOT_SPOKEN, ACCEPTED)
    assert set(agreed.added) == {0, 2}


@pytest.mark.spec("QP-001")
@pytest.mark.mqqp("T01")
@pytest.mark.parametrize("interface", [EPM, UNKNOWN, QM2QM._replace(major=2), QM2QM._replace(minor=1)])
def test_another_interface_or_version_is_rejected(interface: SyntaxId) -> None:
    agreed = first(element(0, interface))
    assert agreed.results == (NOT_SERVED,)
    assert agreed.added == {}


def test_an_unsupported_transfer_syntax_is_rejected() -> None:
    assert first(element(transfers=[UNKNOWN, EPM])).results == (NOT_SPOKEN,)
    assert first(element(transfers=[NDR20_SYNTAX._replace(major=1)])).results == (NOT_SPOKEN,)


@pytest.mark.parametrize("features", [0, 1, 2, 3, 0xFC, 0xFFFFFFFFFFFFFFFF])
def test_the_features_of_both_sides_are_the_answer(features: int) -> None:
    agreed = first(element(), element(1, QM2QM, [features_syntax(features), NDR20_SYNTAX]))
    assert agreed.results[1] == ContextResult(Result.NEGOTIATE_ACK, features & 3)
    assert set(agreed.added) == {0}


def test_features_count_only_as_the_first_transfer_syntax() -> None:
    assert first(element(0, UNKNOWN, [UNKNOWN, features_syntax(1)])).results == (NOT_SERVED,)


def test_a_context_may_be_offered_again() -> None:
    agreed = later(element(0))
    assert agreed == Negotiated((ACCEPTED,), {})
    assert later(element(0, transfers=[UNKNOWN])).results == (NOT_SPOKEN,)


def test_a_further_context_for_an_interface_comes_with_its_own_alter_context() -> None:
    assert set(later(element(5)).added) == {5}
    assert later(element(5), element(0)).results == (ACCEPTED, NOT_SPOKEN)


def test_contexts_over_the_limit_are_rejected() -> None:
    agreed = later(element(1), element(2, MGMT), limit=2)
    assert agreed.results == (ACCEPTED, ContextResult(Result.PROVIDER_REJECTION, Reason.LOCAL_LIMIT))
    assert set(agreed.added) == {1}


@pytest.mark.parametrize(
    "elements",
    [
        (),
        (element(1, transfers=[]),),
        (element(0, MGMT),),
        (element(0, transfers=[NDR64_SYNTAX]),),
        (element(0, transfers=[NDR20_SYNTAX, NDR64_SYNTAX]),),
        (element(1, transfers=[features_syntax(1)]),),
        (element(1, MGMT), element(1, QM2QM)),
    ],
    ids=[
        "no element",
        "no transfer syntax",
        "a number of another interface",
        "a number with another transfer syntax",
        "a number with one transfer syntax more",
        "features after the bind",
        "a number for two interfaces",
    ],
)
def test_an_offer_that_breaks_the_protocol_is_a_violation(elements: tuple[ContextElement, ...]) -> None:
    with pytest.raises(Violation):
        later(*elements)


def test_features_are_offered_once() -> None:
    with pytest.raises(Violation):
        first(element(0, transfers=[features_syntax(1)]), element(1, transfers=[features_syntax(2)]))
