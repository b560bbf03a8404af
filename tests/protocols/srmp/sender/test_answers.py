"""Tests what answers to a POST mean."""

from __future__ import annotations

import pytest

from reliquary.protocols.srmp.sender.answers import BY_HUNDRED, Reaction, reaction_to, reason_for
from reliquary.protocols.srmp.settings import SrmpSettings

PERMANENT = SrmpSettings().permanent_statuses


@pytest.mark.spec("SR-291", "SR-292", "SR-293")
def test_the_statuses_that_the_specification_names() -> None:
    assert reaction_to(200, PERMANENT) is Reaction.TAKEN
    assert reaction_to(400, PERMANENT) is Reaction.REFUSED
    assert {reaction_to(status, PERMANENT) for status in (500, 503, 0)} == {Reaction.RETRY}


def test_every_status_has_its_reaction_and_only_what_is_listed_gives_a_message_up() -> None:
    assert set(BY_HUNDRED) == set(range(6))
    assert Reaction.REFUSED not in BY_HUNDRED.values()
    for status in range(1000):
        taken = 200 <= status < 300
        refused = status == 400
        expected = Reaction.TAKEN if taken else Reaction.REFUSED if refused else Reaction.RETRY
        assert reaction_to(status, PERMANENT) is expected


def test_an_administrator_may_give_up_more() -> None:
    assert reaction_to(404, (400, 404)) is Reaction.REFUSED
    assert reaction_to(400, ()) is Reaction.RETRY


def test_every_reason_is_one_of_a_message_that_did_not_arrive() -> None:
    assert all(reason_for(status).is_failure for status in range(1000))
