"""Tests a response that its pipeline waits for: what is known of it when it fails."""

from __future__ import annotations

import pytest

from reliquary.net.http.failures import BadResponse, ConnectionLost, Failure, RequestFailed
from tests.net.http.questions import Answer, Question


class Watched(Answer):
    """Counts how often it changed."""

    def __init__(self) -> None:
        self.changes = 0
        super().__init__(Question(1, "http://h"), self._count)

    def _count(self) -> None:
        self.changes += 1


@pytest.mark.parametrize(
    ("why", "failure", "nothing_came"),
    [
        (ConnectionLost("x", began=False), Failure.LOST, True),
        (ConnectionLost("x", began=True), Failure.LOST, False),
        (BadResponse("x"), Failure.BAD_RESPONSE, False),
    ],
    ids=["nothing came", "a part came", "not HTTP"],
)
def test_what_the_connection_says_is_noted(why: RequestFailed, failure: Failure, nothing_came: bool) -> None:
    response = Watched()
    response.failed(why)
    assert (response.failure, response.why, response.nothing_came) == (failure, "x", nothing_came)
    assert response.changes == 1


def test_only_the_first_reason_counts() -> None:
    response = Watched()
    response.fail(Failure.BAD_RESPONSE, "first")
    response.failed(ConnectionLost("second", began=True))
    assert (response.failure, response.why, response.changes) == (Failure.BAD_RESPONSE, "first", 1)


def test_a_response_that_was_given_up_does_not_change() -> None:
    response = Watched()
    response.give_up()
    response.failed(ConnectionLost("x", began=False))
    assert (response.failure, response.changes) == (None, 0)
