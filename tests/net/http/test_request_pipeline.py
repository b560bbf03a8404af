"""Tests the connection of an epoch: order, how much is in flight, and what a request may have done that
failed.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from contextlib import suppress

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import seconds
from reliquary.net.http.failures import Failure
from tests.net.http.harness import play, tick, until
from tests.net.http.questions import Asking, asking
from tests.net.httpr.harness import Behaviour, Server, answering, http, serving, silent
from tests.ports import free_port

OK = http(b"yes")
CLOSE = http(b"yes", b"connection: close")


def bodies(*numbers: int) -> list[bytes]:
    return [b"question %d" % number for number in numbers]


def yes(*numbers: int) -> list[tuple[int, bytes]]:
    return [(number, b"yes") for number in numbers]


def agreeing(times: int | None = None) -> Behaviour:
    """Return a handler that answers this many requests with yes, or all, and then hangs up."""

    async def behave(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        done = 0
        while done != times:
            await server.read(reader)
            writer.write(OK)
            done += 1
        await writer.drain()

    return behave


async def closing(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Answers the first request, and hangs up when the second one has come."""
    await server.read(reader)
    writer.write(OK)
    await server.read(reader)


class TestOrder:
    """Requests leave in their order, several before the first is answered."""

    def test_all_leave_and_are_reported_in_their_order_on_one_connection(self) -> None:
        async def scene() -> None:
            async def behave(
                server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
            ) -> None:
                for _ in range(4):
                    await server.read(reader)
                writer.write(b"".join([http(b"%d" % number) for number in (1, 2, 3, 4)]))
                await reader.read()

            async with serving(behave) as there, asking(there) as here:
                here.ask(1, 2, 3, 4)
                await here.wait_for(4)
                assert here.courier.came == [(1, b"1"), (2, b"2"), (3, b"3"), (4, b"4")]
                assert there.bodies == bodies(1, 2, 3, 4)
                assert there.accepted == here.courier.connections == 1
                assert here.courier.bytes_sent == sum(map(len, there.heads + there.bodies))

        play(scene)

    def test_no_more_are_in_flight_than_allowed(self) -> None:
        async def scene() -> None:
            async with serving(silent(3)) as there, asking(there, in_flight=3) as here:
                here.ask(*range(1, 8))
                await until(lambda: len(there.bodies) == 3)
                await tick(5)
                assert len(here.courier.pipelines[1]._waiting) == 4
            async with serving(agreeing()) as there, asking(there, in_flight=3) as here:
                here.ask(*range(1, 8))
                await here.wait_for(7)
                assert here.courier.came == yes(*range(1, 8))

        play(scene)

    def test_no_more_bytes_are_unanswered_than_allowed_and_the_one_that_is_too_many(self) -> None:
        async def scene() -> None:
            async with serving(silent(2)) as there, asking(there, unanswered_bytes=1500) as here:
                here.ask(1, 2, 3, 4, body=b"x" * 1000)
                await until(lambda: len(there.bodies) == 2)
                assert len(here.courier.pipelines[1]._waiting) == 2
            async with serving(agreeing()) as there, asking(there, unanswered_bytes=1500) as here:
                here.ask(1, 2, 3, 4, body=b"x" * 1000)
                await here.wait_for(4)
                assert here.courier.came == yes(1, 2, 3, 4)

        play(scene)

    def test_one_in_pieces_is_whole_before_the_next_one_leaves(self) -> None:
        def pieces() -> Iterator[bytes]:
            return iter((b"one", b"two", b"three"))

        async def scene() -> None:
            async with serving(agreeing()) as there, asking(there) as here:
                here.ask(1)
                here.ask(2, pieces=pieces)
                here.ask(3)
                await here.wait_for(3)
                assert there.bodies == [*bodies(1), b"onetwothree", *bodies(3)]
                assert here.courier.came == yes(1, 2, 3)

        play(scene)

    def test_a_connection_that_was_closed_while_idle_is_replaced(self) -> None:
        async def scene() -> None:
            async with serving(agreeing(1)) as there, asking(there) as here:
                for number in (1, 2):
                    here.ask(number)
                    await here.wait_for(number)
                    await until(lambda: here.courier.connections == 0)
                assert here.courier.came == yes(1, 2)
                assert there.accepted == 2

        play(scene)

    def test_nothing_is_sent_into_a_connection_that_its_peer_says_it_closes(self) -> None:
        async def scene() -> None:
            async with serving(answering(CLOSE)) as there, asking(there, in_flight=1) as here:
                here.ask(1, 2, 3)
                await here.wait_for(3)
                assert here.courier.came == yes(1, 2, 3)
                assert there.bodies == bodies(1, 2, 3)

        play(scene)

    def test_after_a_connection_that_its_peer_closed_the_first_request_goes_alone(self) -> None:
        async def scene() -> None:
            answers = [answering(CLOSE), answering(CLOSE), agreeing()]
            async with serving(*answers) as there, asking(there) as here:
                here.ask(1)
                await here.wait_for(1)
                here.ask(2, 3, 4, 5)
                await here.wait_for(5)
                assert here.courier.came == yes(1, 2, 3, 4, 5)
                assert here.courier.reported == []
                assert there.accepted == 3
                # nothing was sent behind the second, into a connection that was closed
                assert here.courier.bytes_sent == sum(map(len, there.heads + there.bodies))

        play(scene)


class TestFailure:
    """The first request without a response fails, and those behind it; nothing is sent afterwards."""

    def test_a_request_that_may_have_been_done_is_lost_and_not_sent_again(self) -> None:
        async def scene() -> None:
            async with serving(closing) as there, asking(there, in_flight=2) as here:
                here.ask(1)
                await here.wait_for(1)
                here.ask(2, 3, 4)
                await here.wait_for(2)
                ((numbers, failure, _),) = here.courier.reported
                assert (numbers, failure) == ([2, 3, 4], Failure.LOST)
                await until(lambda: there.gone == there.accepted)
                assert there.accepted == 1

        play(scene)

    def test_what_comes_for_a_pipeline_that_failed_is_refused_with_its_failure(self) -> None:
        async def scene() -> None:
            async with serving(answering(http(b"", status=b"500 Oops"))) as there, asking(there) as here:
                here.ask(1)
                await here.wait_for(1)
                here.ask(2)
                assert here.courier.reported == [([1], Failure.BAD_RESPONSE, "status 500")]
                assert here.courier.refused == [(2, Failure.BAD_RESPONSE, "status 500")]
                assert here.courier.connections == 0

        play(scene)

    def test_without_a_connection_nothing_was_sent(self) -> None:
        async def scene() -> None:
            for url, expected in (
                (f"http://127.0.0.1:{free_port()}", Failure.NO_CONNECTION),
                ("http://a..b", Failure.NO_ADDRESS),
                ("ftp://h", Failure.NO_ADDRESS),
            ):
                async with asking(url) as here:
                    here.ask(1, 2)
                    await here.wait_for(1)
                    ((numbers, failure, _),) = here.courier.reported
                    assert (numbers, failure) == ([1, 2], expected)

        play(scene)

    def test_an_effect_without_a_request_is_not_sent_and_the_requests_before_it_are(self) -> None:
        async def scene() -> None:
            async with serving(silent(1)) as there, asking(there) as here:
                here.ask(1, 2, key=1, target="no path")
                await here.wait_for(1)
                here.ask(3, key=2)
                await until(lambda: len(there.bodies) == 1)
                here.ask(4, key=2, target="no path")
                first, second = here.courier.reported
                assert first[:2] == ([1, 2], Failure.NO_ADDRESS)
                assert second[:2] == ([3, 4], Failure.LOST)

        play(scene)

    def test_a_body_that_cannot_be_read_to_its_end_leaves_the_request_cut_off(self) -> None:
        def pieces() -> Iterator[bytes]:
            yield b"one"
            raise UsageError("gone")

        async def scene() -> None:
            async with serving(silent(1)) as there, asking(there) as here:
                here.ask(1, pieces=pieces)
                await here.wait_for(1)
                why = "the request could not be sent to its end: gone"
                assert here.courier.reported == [([1], Failure.LOST, why)]
                await until(lambda: there.gone == 1)
                assert there.bodies == []

        play(scene)

    def test_a_server_that_never_answers_is_given_up(self) -> None:
        async def scene() -> None:
            async with serving(silent(2)) as there, asking(there, response_time=seconds(0.02)) as here:
                here.ask(1, wait=seconds(0.03))
                here.ask(2)
                await here.wait_for(1)
                assert here.courier.reported == [([1, 2], Failure.TIMED_OUT, "no answer within 0.05 s")]

        play(scene)


class Clock:
    """The loop's clock as a pipeline sees it: the test moves it, and looks when it likes."""

    def __init__(self) -> None:
        self.at = 0.0

    def time(self) -> float:
        return self.at

    def call_at(self, when: float, look: Callable[[], None]) -> asyncio.TimerHandle:
        del when
        return asyncio.get_running_loop().call_later(1000, look)

    call_later = call_at

    def __getattr__(self, name: str) -> object:
        return getattr(asyncio.get_running_loop(), name)


LARGE = 24 << 20
"""More bytes than the buffers between two programs take."""
PIECE = 2 << 20


class TestUpload:
    """The time for a response begins when the request has left, and progress on its way counts."""

    @staticmethod
    def slow(pieces: asyncio.Queue[int]) -> Behaviour:
        """Takes as many bytes as each item of the queue says, and answers when the item is 0."""

        async def behave(server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            del server
            while count := await pieces.get():
                await reader.readexactly(count)
            writer.write(OK)
            with suppress(ConnectionError):
                await reader.read()

        return behave

    def test_a_large_request_may_leave_slowly(self) -> None:
        async def scene() -> None:
            pieces: asyncio.Queue[int] = asyncio.Queue()
            async with serving(self.slow(pieces)) as there, asking(there, response_time=seconds(10)) as here:
                clock = await self.begin(here)
                pipeline = here.courier.pipelines[1]
                length = pipeline._written
                rest, seen = length, self.left(here)
                while seen < length:
                    if rest > PIECE:
                        pieces.put_nowait(PIECE)
                        rest -= PIECE
                    await self.moved(here, seen)
                    seen = self.left(here)
                    clock.at += 9
                    pipeline._look()
                assert clock.at > 30
                pieces.put_nowait(rest)
                clock.at += 9
                pipeline._look()
                assert here.courier.reported == []
                pieces.put_nowait(0)
                await here.wait_for(1)
                assert here.courier.came == yes(1)

        play(scene)

    def test_a_request_without_progress_fails(self) -> None:
        async def scene() -> None:
            pieces: asyncio.Queue[int] = asyncio.Queue()
            async with serving(self.slow(pieces)) as there, asking(there, response_time=seconds(10)) as here:
                clock = await self.begin(here)
                pipeline = here.courier.pipelines[1]
                pipeline._look()
                clock.at += 9
                pipeline._look()
                assert here.courier.reported == []
                while not here.courier.reported:  # as soon as the buffers are full
                    clock.at += 10
                    pipeline._look()
                    await tick()
                assert here.courier.reported == [([1], Failure.TIMED_OUT, "no answer within 10 s")]
                pieces.put_nowait(0)

        play(scene)

    async def begin(self, here: Asking) -> Clock:
        """Send a large request; the clock of its pipeline."""
        clock = Clock()
        pipeline = here.courier.pipelines.find(1, 0)
        assert pipeline is not None
        pipeline._loop = clock  # type: ignore[assignment]
        here.ask(1, body=b"x" * LARGE)
        await until(lambda: pipeline._written)
        return clock

    async def moved(self, here: Asking, seen: int) -> None:
        """Wait until more has left than was seen."""
        await until(lambda: self.left(here) > seen)

    def left(self, here: Asking) -> int:
        """Return how many bytes of the request the peer's system has."""
        pipeline = here.courier.pipelines[1]
        assert pipeline._connection is not None
        return pipeline._written - pipeline._connection.unsent


class TestResend:
    """Where a request may be sent twice, a peer may close a connection between two answers."""

    def test_what_has_no_answer_goes_again_in_its_order(self) -> None:
        async def scene() -> None:
            async with serving(closing, agreeing()) as there, asking(there, resends=True) as here:
                here.ask(1)
                await here.wait_for(1)
                here.ask(2, 3, 4)
                await here.wait_for(4)
                assert here.courier.came == yes(1, 2, 3, 4)
                assert there.bodies == bodies(1, 2, 2, 3, 4)
                assert here.courier.reported == []

        play(scene)

    def test_a_peer_that_closes_behind_an_answer_gets_one_at_a_time(self) -> None:
        async def scene() -> None:
            async with serving(answering(CLOSE)) as there, asking(there, resends=True) as here:
                here.ask(1, 2, 3, 4, 5)
                await here.wait_for(5)
                assert here.courier.came == yes(1, 2, 3, 4, 5)
                assert there.bodies == bodies(1, 2, 3, 4, 5)
                assert there.accepted == 5
                sizes = [len(head + body) for head, body in zip(there.heads, there.bodies, strict=True)]
                assert here.courier.bytes_sent == sum(sizes) + sum(sizes[1:])

        play(scene)

    @pytest.mark.parametrize("answer", [b"", OK[:9]], ids=["nothing", "a part"])
    def test_a_first_answer_that_is_not_whole_is_lost(self, answer: bytes) -> None:
        async def scene() -> None:
            async with serving(answering(answer)) as there, asking(there, resends=True) as here:
                here.ask(1)
                await here.wait_for(1)
                ((numbers, failure, _),) = here.courier.reported
                assert (numbers, failure) == ([1], Failure.LOST)
                assert there.accepted == 1

        play(scene)

    def test_half_an_answer_is_not_asked_for_again(self) -> None:
        async def scene() -> None:
            async with serving(answering(OK, OK[:9])) as there, asking(there, resends=True) as here:
                here.ask(1)
                await here.wait_for(1)
                here.ask(2)
                await here.wait_for(2)
                ((numbers, failure, _),) = here.courier.reported
                assert (numbers, failure) == ([2], Failure.LOST)
                assert there.accepted == 1

        play(scene)


def test_nothing_is_reported_after_the_end() -> None:
    async def scene() -> None:
        async with serving(silent(2)) as there, asking(there, in_flight=2) as here:
            here.ask(1, 2, 3)
            await until(lambda: len(there.bodies) == 2)
            here.courier.pipelines[1].end()
            await until(lambda: there.gone == 1)
            assert (here.courier.came, here.courier.reported) == ([], [])

    play(scene)
