"""Tests what an error of a server means: none is missing."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.client.reactions import FAILED_WITH, NACKS, REACTIONS, Reaction, reaction_to
from reliquary.protocols.httpr.codec.values import ErrorNumber
from reliquary.protocols.httpr.events import Failure


@pytest.mark.spec("HR-083")
def test_every_error_has_its_reaction() -> None:
    assert set(REACTIONS) == set(ErrorNumber)
    assert {REACTIONS[number] for number in ErrorNumber} == set(Reaction)


def test_every_failure_is_reported() -> None:
    assert set(FAILED_WITH) == set(Failure)


def test_a_message_that_is_refused_alone_has_a_reason() -> None:
    assert set(NACKS) == {number for number, each in REACTIONS.items() if each is Reaction.SUSPECT}
    assert all(reason.is_failure for reason in NACKS.values())


def test_an_error_that_is_not_known_may_pass() -> None:
    assert reaction_to(599) is Reaction.REST
    assert reaction_to(528) is Reaction.RENEW
