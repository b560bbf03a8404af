"""Tests a courier: each key has a connection of its own, and only the newest epoch counts."""

from __future__ import annotations

from collections import Counter

import pytest

from reliquary.net.http.courier import AFTER_A_FAILURE, PostCourier
from reliquary.net.http.failures import Failure
from reliquary.queueing.travel.failures import Failure as Unanswered
from tests.net.http.harness import play, tick, until
from tests.net.http.questions import Answer, Courier, Question, asking
from tests.net.httpr.harness import answering, http, serving, silent

YES = http(b"yes")


def test_keys_have_connections_of_their_own() -> None:
    async def scene() -> None:
        async with serving(silent(1), answering(YES)) as there, asking(there) as here:
            here.ask(1, key=1)
            await until(lambda: len(there.bodies) == 1)
            here.ask(2, key=2)
            await here.wait_for(1)
            assert here.courier.came == [(2, b"yes")]
            assert there.accepted == 2

    play(scene)


def test_an_answer_of_an_older_epoch_means_nothing() -> None:
    async def scene() -> None:
        async with serving(silent(1), answering(YES)) as there, asking(there) as here:
            here.ask(1, epoch=1)
            await until(lambda: len(there.bodies) == 1)
            here.ask(2, epoch=2)
            here.ask(3, epoch=1)
            await here.wait_for(1)
            assert here.courier.came == [(2, b"yes")]
            assert here.courier.reported == []
            assert there.bodies == [b"question 1", b"question 2"]

    play(scene)


def test_an_epoch_that_ends_while_it_connects_is_not_reported() -> None:
    async def scene() -> None:
        async with serving(answering(YES)) as there, asking(there) as here:
            here.ask(1, epoch=1)
            await tick()
            here.ask(2, epoch=2)
            await here.wait_for(1)
            assert here.courier.came == [(2, b"yes")]
            assert there.bodies == [b"question 2"]

    play(scene)


def test_a_stop_closes_all_connections_and_reports_nothing() -> None:
    async def scene() -> None:
        async with serving(silent(1)) as there, asking(there) as here:
            for key in range(5):
                here.ask(1, key=key)
            await until(lambda: len(there.bodies) == 5)
            assert here.courier.connections == 5
            here.courier.stop()
            await until(lambda: there.gone == 5)
            assert (here.courier.connections, here.courier.came, here.courier.reported) == (0, [], [])

    play(scene)


class Posts(PostCourier[Question, Answer], Courier):
    """Notes what each question has instead of a response."""

    def __init__(self) -> None:
        self.failures = Counter()
        self.noted: list[tuple[int, Unanswered, str]] = []

    def unanswered(self, request: Question, reason: Unanswered, why: str) -> None:
        self.noted.append((request.number, reason, why))


@pytest.mark.parametrize(
    ("failure", "first", "behind"),
    [
        (Failure.NO_CONNECTION, Unanswered.NO_CONNECTION, (Unanswered.NO_CONNECTION, "why")),
        (Failure.TIMED_OUT, Unanswered.TIMED_OUT, (Unanswered.LOST, AFTER_A_FAILURE)),
        (Failure.BAD_RESPONSE, Unanswered.LOST, (Unanswered.LOST, AFTER_A_FAILURE)),
    ],
)
def test_each_request_without_a_response_can_be_reported_by_itself(
    failure: Failure, first: Unanswered, behind: tuple[Unanswered, str]
) -> None:
    courier = Posts()
    courier.failed([Question(number, "http://h") for number in (1, 2, 3)], failure, "why")
    assert courier.noted == [(1, first, "why"), (2, *behind), (3, *behind)]
    courier.refuse(Question(4, "http://h"), failure, "why")
    assert courier.noted[3:] == [(4, first, "why")]
    assert courier.failures == Counter(each[1] for each in courier.noted)
