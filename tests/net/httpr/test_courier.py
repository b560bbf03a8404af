"""Tests the courier: order, one connection an epoch, and how requests end with servers that behave in every
way.
"""

from __future__ import annotations

import asyncio
import socket
from functools import partial
from pathlib import Path

import pytest

from reliquary.base.time import seconds
from reliquary.net.http import Listener
from reliquary.net.httpr.courier import Courier
from reliquary.protocols.httpr.codec.values import Command, Disposition, Outcome
from reliquary.protocols.httpr.effects import HangUp, SendRequest
from reliquary.protocols.httpr.events import Failure, RequestFailed, ResponseArrived
from reliquary.queueing.model.message import Message
from reliquary.server.srmp_options import SrmpOptions
from reliquary.server.trust import trust_of
from tests.net.http.harness import echo, everywhere, play, tick, until
from tests.net.httpr.harness import (
    BodyStore,
    Server,
    answering,
    committed,
    courier_bench,
    http,
    http_chunked,
    pulled,
    push,
    serving,
    silent,
)
from tests.net.srmp.certificates import Authority
from tests.net.srmp.certificates import serving as tls_of
from tests.ports import free_port

CLOSE = b"connection: close"


def over(there: Server) -> bool:
    """Return whether the first connection is over."""
    return there.gone == 1


class Script:
    """A server that reads this many requests before it writes anything."""

    def __init__(self, requests: int, *writes: bytes) -> None:
        self._requests = requests
        self._writes = writes

    async def __call__(
        self, server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        for _ in range(self._requests):
            await server.read(reader)
        for data in self._writes:
            writer.write(data)
            await writer.drain()
            await tick(3)
        await reader.read()


class TestOrder:
    """Requests leave in their order, without waiting; responses are reported in that order."""

    @pytest.mark.spec("HR-005", "HR-047")
    def test_a_response_is_reported_with_the_number_of_its_request(self) -> None:
        async def scene() -> None:
            async with serving(answering()) as there, courier_bench(there) as here:
                here.push(1, 2, 3)
                await here.wait_for(3)
                assert here.ends == [(1, 1), (2, 2), (3, 3)]
                assert all(isinstance(each, ResponseArrived) for each in here.reported)
                assert b"body 1" in there.bodies[0]
                assert b"body 3" in there.bodies[2]
                assert there.accepted == here.courier.connections == 1
                assert here.courier.requests == {Command.PUSH: 3}
                assert here.courier.answers == {0: 3}
                assert here.courier.bytes_received == 3 * len(committed(1))
                assert here.courier.bytes_sent == sum(map(len, there.heads + there.bodies))

        play(scene)

    @pytest.mark.spec("HR-044")
    def test_all_leave_before_the_first_response_comes(self) -> None:
        async def scene() -> None:
            answers = b"".join(http(committed(number)) for number in range(1, 9))
            async with serving(Script(8, answers)) as there, courier_bench(there) as here:
                here.push(*range(1, 9))
                await here.wait_for(8)
                assert here.ends == [(number, number) for number in range(1, 9)]

        play(scene)

    def test_channels_have_connections_of_their_own(self) -> None:
        async def scene() -> None:
            async with serving(silent(1), answering()) as there, courier_bench(there) as here:
                here.push(1, channel=1)
                await until(lambda: len(there.bodies) == 1)
                here.push(1, channel=2)
                await here.wait_for(1)
                assert here.reported[0].channel == 2
                assert there.accepted == here.courier.connections == 2

        play(scene)

    def test_a_server_that_does_not_read_is_not_sent_more_than_fits(self) -> None:
        async def scene() -> None:
            read = asyncio.Event()

            async def slow(
                server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
            ) -> None:
                await read.wait()
                await answering()(server, reader, writer)

            async with serving(slow) as there, courier_bench(there) as here:
                large = Message(body=b"x" * 1_000_000)
                here.push(*range(1, 41), messages=(large,))
                await until(lambda: here.courier.connections == 1)
                await tick(20)
                assert 0 < here.courier.requests[Command.PUSH] < 30
                read.set()
                await here.wait_for(40)
                assert here.ends == [(number, number) for number in range(1, 41)]

        play(scene)


class TestResponses:
    """The result of a response does not depend on how its bytes are cut."""

    BATCH = pulled(7, b"hello", b"", b"payload-disposition:last\r\n")

    @pytest.mark.spec("HR-007", "HR-008")
    @pytest.mark.httpr("T03", "T04")
    @pytest.mark.parametrize("form", ["length", "one-byte chunks", "chunks of 7", "until the end"])
    def test_a_response_split_at_any_byte_is_whole(self, form: str) -> None:
        answer = {
            "length": http(self.BATCH),
            "one-byte chunks": http_chunked(self.BATCH, 1),
            "chunks of 7": http_chunked(self.BATCH, 7),
            "until the end": b"HTTP/1.1 200 OK\r\n\r\n" + self.BATCH,
        }[form]

        async def scene() -> None:
            for step in (1, 13):
                parts = [answer[start : start + step] for start in range(0, len(answer), step)]

                async def serve(
                    server: Server,
                    reader: asyncio.StreamReader,
                    writer: asyncio.StreamWriter,
                    parts: list[bytes] = parts,
                ) -> None:
                    await server.read(reader)
                    writer.get_extra_info("socket").setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                    for part in parts:
                        writer.write(part)
                        await tick()

                async with serving(serve) as there, courier_bench(there) as here:
                    here.pull()
                    await here.wait_for(1)
                    (reported,) = here.reported
                    assert isinstance(reported, ResponseArrived)
                    assert (reported.header.transaction_id, reported.disposition) == (7, Disposition.LAST)
                    assert [carried.body for carried in reported.batch] == [
                        b"hello",
                        b"",
                        b"payload-disposition:last\r\n",
                    ]
                    assert {carried.header for carried in reported.batch} == {"app-x:1\r\n"}

        play(scene)

    def test_a_batch_that_its_server_gave_up_is_whole_too(self) -> None:
        async def scene() -> None:
            answer = http(pulled(7, b"x", last=b"payload-disposition:abort\r\n"))
            async with serving(answering(answer)) as there, courier_bench(there) as here:
                here.pull()
                await here.wait_for(1)
                assert isinstance(here.reported[0], ResponseArrived)
                assert here.reported[0].disposition is Disposition.ABORT

        play(scene)

    def test_an_error_of_httpr_is_a_response(self) -> None:
        async def scene() -> None:
            body = b"session:end\r\nerror:528 SESSION-IDENTIFIER-NOT-RECOGNISED\r\n\r\n"
            async with serving(answering(http(body))) as there, courier_bench(there) as here:
                here.push(1)
                await here.wait_for(1)
                assert isinstance(here.reported[0], ResponseArrived)
                assert here.reported[0].header.error is not None
                assert here.reported[0].header.error.number == 528

        play(scene)

    def test_a_server_that_hangs_up_after_each_response_is_called_again(self) -> None:
        async def scene() -> None:
            last = answering(http(committed(1), CLOSE))
            async with serving(last) as there, courier_bench(there) as here:
                for number in (1, 2, 3):
                    here.push(number)
                    await here.wait_for(number)
                    await until(lambda: here.courier.connections == 0)
                assert here.ends == [(1, 1), (2, 1), (3, 1)]
                assert there.accepted == len(there.bodies) == 3

        play(scene)


class TestFailure:
    """One failure an epoch, for the first without a response; nothing is sent twice."""

    @pytest.mark.httpr("T46")
    @pytest.mark.spec("HR-020", "HR-022")
    def test_a_response_that_is_cut_off_anywhere_is_lost(self) -> None:
        async def scene() -> None:
            batch = pulled(7, b"hello")
            for whole in (http(batch), http_chunked(batch, 30), b"HTTP/1.1 200 OK\r\n\r\n" + batch):
                for stop in range(0, len(whole), 9):
                    async with serving(answering(whole[:stop])) as there, courier_bench(there) as here:
                        here.pull(1)
                        here.pull(2)
                        await here.wait_for(1)
                        await until(partial(over, there))
                        assert here.ends == [(1, Failure.LOST)]
                        assert there.accepted == 1

        play(scene)

    @pytest.mark.parametrize(
        ("answer", "failure", "why"),
        [
            (http(committed(1), status=b"500 Oops"), Failure.NOT_HTTPR, "the status is 500, not 200"),
            (http(committed(1), status=b"302 Found"), Failure.NOT_HTTPR, "302"),
            (http(committed(1), status=b"201 Made"), Failure.NOT_HTTPR, "201"),
            (b"HTTP/1.1 204 No\r\n\r\n", Failure.NOT_HTTPR, "204"),
            (b"SSH-2.0-x\r\n", Failure.NOT_HTTPR, "HTTP/1.1"),
            (http(b"<html>Sorry</html>\r\n\r\n"), Failure.NOT_HTTPR, ""),
            (http(committed(1) + b"more"), Failure.NOT_HTTPR, "bytes follow"),
            (http(pulled(7, b"x", last=b"garbage:x\r\n")), Failure.NOT_HTTPR, ""),
            (http(b""), Failure.LOST, "ended before its last message"),
            (http(b"outcome:COMMIT\r\n"), Failure.LOST, "ended before its last message"),
            (http(pulled(7, b"x", last=b"")), Failure.LOST, "ended before its last message"),
            (http_chunked(pulled(7, b"x", last=b""), 9), Failure.LOST, "ended before its last message"),
        ],
        ids=[
            "500",
            "302",
            "201",
            "204",
            "not http",
            "a page",
            "more than a body",
            "garbage for a terminator",
            "nothing",
            "half a header",
            "no terminator",
            "no terminator, chunked",
        ],
    )
    def test_a_wrong_response_is_a_failure(self, answer: bytes, failure: Failure, why: str) -> None:
        async def scene() -> None:
            first, third = http(committed(1)), http(committed(3))
            async with serving(answering(first, answer, third)) as there, courier_bench(there) as here:
                here.push(1)
                await here.wait_for(1)
                here.pull(2)
                here.pull(3)
                await here.wait_for(2)
                assert here.ends == [(1, 1), (2, failure)]
                reported = here.reported[1]
                assert isinstance(reported, RequestFailed)
                assert why in reported.why
                await until(lambda: there.gone == 1)
                here.pull(4)
                await tick(5)
                assert len(here.reported) == 2
                assert there.accepted == 1
                assert here.courier.failures == {failure: 1}
                assert here.courier.connections == 0

        play(scene)

    def test_a_batch_that_is_larger_than_it_may_be_is_not_read(self) -> None:
        async def scene() -> None:
            answer = http(pulled(7, b"x"))
            async with serving(answering(answer)) as there, courier_bench(there) as here:
                here.push(1)  # whose response may carry nothing
                await here.wait_for(1)
                assert here.ends == [(1, Failure.NOT_HTTPR)]

        play(scene)

    def test_a_server_that_closes_after_a_response_loses_what_was_pipelined(self) -> None:
        async def scene() -> None:
            async with serving(Script(3, http(committed(1), CLOSE))) as there, courier_bench(there) as here:
                here.push(1, 2, 3)
                await here.wait_for(2)
                await until(lambda: there.gone == 1)
                assert here.ends == [(1, 1), (2, Failure.LOST)]
                assert there.accepted == 1

        play(scene)

    def test_a_server_without_a_listener_is_no_connection(self) -> None:
        async def scene() -> None:
            async with courier_bench(f"http://127.0.0.1:{free_port()}") as here:
                here.push(1, 2)
                await here.wait_for(1)
                await tick(5)
                assert here.ends == [(1, Failure.NO_CONNECTION)]

        play(scene)

    @pytest.mark.parametrize(
        "server", ["http://no-such-host.invalid", "http://a..b", "http://h:99999", "ftp://h"]
    )
    def test_a_malformed_address_is_a_failure(self, server: str) -> None:
        async def scene() -> None:
            async with courier_bench(server) as here:
                here.push(1, 2)
                await here.wait_for(1)
                await tick(5)
                assert here.ends == [(1, Failure.NO_ADDRESS)]

        play(scene)

    def test_a_malformed_path_has_no_address_and_an_earlier_request_is_lost(self) -> None:
        async def scene() -> None:
            async with serving(silent(1)) as there, courier_bench(there) as here:
                bad = SendRequest(2, 1, 1, here.url + " x", push(1))
                here.courier.send(bad)
                await here.wait_for(1)
                assert here.ends == [(1, Failure.NO_ADDRESS)]
                here.push(1)
                await until(lambda: len(there.bodies) == 1)
                here.courier.send(SendRequest(1, 1, 2, here.url + " x", push(2)))
                assert here.ends[1:] == [(1, Failure.LOST)]

        play(scene)

    def test_a_server_that_is_not_trusted_is_a_failure(self, tmp_path: Path) -> None:
        ours, theirs = Authority(tmp_path, "ours"), Authority(tmp_path, "theirs")
        certificates = {True: ours.vouch("peer.example"), False: theirs.vouch("other.example")}

        async def scene() -> None:
            for trusted, certificate in certificates.items():
                listener = Listener([everywhere(echo)], tls=tls_of(certificate))
                _, port = await listener.listen()
                reported: list[ResponseArrived | RequestFailed] = []
                courier = Courier(
                    reported.append,
                    BodyStore(),
                    response_time=seconds(10),
                    tls=trust_of("srmp.", SrmpOptions(ca_file=ours.file)),
                )
                courier.send(SendRequest(1, 1, 1, f"https://localhost:{port}/q", push(1)))
                await until(reported.__len__)
                assert isinstance(reported[0], RequestFailed)
                # what echoes is no HTTPR, but it was reached
                assert reported[0].failure is (Failure.NOT_HTTPR if trusted else Failure.NOT_TRUSTED)
                courier.stop()
                await listener.drain(seconds(0.001))

        play(scene)


class Clock(asyncio.SelectorEventLoop):
    """A loop whose clock a test can turn."""

    ahead = 0.0

    def time(self) -> float:
        return super().time() + self.ahead


def turn(to: float) -> None:
    """Set the loop's clock to this many seconds after its beginning."""
    loop = asyncio.get_running_loop()
    assert isinstance(loop, Clock)
    loop.ahead = to


class TestTime:
    """A response that stands still for too long is given up."""

    def test_a_server_that_never_answers_is_given_up(self) -> None:
        async def scene() -> None:
            async with serving(silent(2)) as there, courier_bench(there, response_time=seconds(60)) as here:
                here.push(1, 2)
                await until(lambda: len(there.bodies) == 2)
                turn(1)
                await tick(3)  # the requests have left, and the time begins
                turn(60)
                await tick(3)
                assert here.reported == []
                turn(62)
                await here.wait_for(1)
                assert here.ends == [(1, Failure.TIMED_OUT)]
                assert isinstance(here.reported[0], RequestFailed)
                assert here.reported[0].why == "nothing came within 60 s"
                await until(lambda: there.gone == 1)

        with asyncio.Runner(loop_factory=Clock) as runner:
            runner.run(scene())

    def test_what_a_server_may_wait_for_messages_comes_on_top(self) -> None:
        async def scene() -> None:
            async with serving(silent(2)) as there, courier_bench(there, response_time=seconds(60)) as here:
                here.pull(1, wait=seconds(20))
                await until(lambda: len(there.bodies) == 1)
                turn(1)
                await tick(3)  # the request has left, and the time begins
                turn(80)
                await tick(3)
                assert here.reported == []
                turn(82)
                await here.wait_for(1)
                assert here.ends == [(1, Failure.TIMED_OUT)]

        with asyncio.Runner(loop_factory=Clock) as runner:
            runner.run(scene())

    def test_each_response_gives_the_next_one_its_time_and_so_does_each_part_of_one(self) -> None:
        async def scene() -> None:
            steps = [asyncio.Event() for _ in range(2)]

            async def slow(
                server: Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
            ) -> None:
                await server.read(reader)
                await server.read(reader)
                await steps[0].wait()
                writer.write(http(committed(1)) + http(committed(2))[:-1])
                await steps[1].wait()
                writer.write(http(committed(2))[-1:])
                await reader.read()

            async with serving(slow) as there, courier_bench(there, response_time=seconds(60)) as here:
                here.push(1, 2)
                await until(lambda: len(there.bodies) == 2)
                turn(50)
                steps[0].set()
                await here.wait_for(1)
                turn(100)
                await tick(3)
                steps[1].set()
                await here.wait_for(2)
                assert here.ends == [(1, 1), (2, 2)]
                turn(1000)
                await tick(3)
                assert len(here.reported) == 2
                assert here.courier.connections == 1

        with asyncio.Runner(loop_factory=Clock) as runner:
            runner.run(scene())


class TestEpochs:
    """What belongs to an epoch that is over means nothing."""

    @pytest.mark.spec("HR-013", "HR-042", "HR-043")
    @pytest.mark.httpr("T31")
    def test_a_response_that_comes_late_is_not_reported(self) -> None:
        async def scene() -> None:
            async with (
                serving(Script(1, http(committed(1))[:-1]), answering()) as there,
                courier_bench(there) as here,
            ):
                here.push(1, epoch=1)
                await until(lambda: len(there.bodies) == 1)
                here.push(1, epoch=2)
                await here.wait_for(1)
                await until(lambda: there.gone == 1)
                assert [(each.epoch, each.number) for each in here.reported] == [(2, 1)]
                assert there.accepted == 2
                assert here.courier.connections == 1

        play(scene)

    def test_a_request_of_an_epoch_that_is_over_is_not_sent(self) -> None:
        async def scene() -> None:
            async with serving(answering()) as there, courier_bench(there) as here:
                here.push(1, epoch=2)
                here.push(2, epoch=1)
                await here.wait_for(1)
                here.courier.hang_up(HangUp(1, 2))
                here.push(3, epoch=2)
                here.push(1, epoch=3)
                await here.wait_for(2)
                assert [each.epoch for each in here.reported] == [2, 3]
                assert len(there.bodies) == 2

        play(scene)

    def test_hanging_up_reports_nothing_and_an_older_epoch_is_ignored(self) -> None:
        async def scene() -> None:
            async with serving(silent(2), answering()) as there, courier_bench(there) as here:
                here.push(1, 2, epoch=3)
                await until(lambda: len(there.bodies) == 2)
                here.courier.hang_up(HangUp(1, 2))
                assert here.courier.connections == 1
                here.courier.hang_up(HangUp(1, 3))
                await until(lambda: there.gone == 1)
                assert here.reported == []
                here.courier.hang_up(HangUp(9, 3))

        play(scene)

    def test_an_epoch_that_ends_while_it_connects_is_not_reported(self) -> None:
        async def scene() -> None:
            async with serving(answering()) as there, courier_bench(there) as here:
                here.push(1, epoch=1)
                await tick()
                here.push(1, epoch=2)
                await here.wait_for(1)
                assert [each.epoch for each in here.reported] == [2]
                assert len(there.bodies) == 1

        play(scene)

    def test_after_a_failure_the_next_epoch_begins_anew(self) -> None:
        async def scene() -> None:
            async with serving(answering(b""), answering()) as there, courier_bench(there) as here:
                here.push(1, epoch=1)
                await here.wait_for(1)
                here.push(2, epoch=1)
                here.push(1, epoch=2)
                await here.wait_for(2)
                assert here.ends == [(1, Failure.LOST), (1, 1)]
                assert there.accepted == 2

        play(scene)

    def test_a_stop_hangs_up_everywhere(self) -> None:
        async def scene() -> None:
            async with serving(silent(1)) as there, courier_bench(there) as here:
                for channel in range(1, 6):
                    here.push(1, channel=channel)
                await until(lambda: len(there.bodies) == 5)
                here.courier.stop()
                await until(lambda: there.gone == 5)
                assert here.reported == []
                assert here.courier.connections == 0

        play(scene)


def test_an_outcome_is_reported_as_it_came() -> None:
    async def scene() -> None:
        answer = http(b"outcome:ROLLBACK\r\ncompleted:0000000000000002\r\n\r\n")
        async with serving(answering(answer)) as there, courier_bench(there) as here:
            here.push(2)
            await here.wait_for(1)
            assert isinstance(here.reported[0], ResponseArrived)
            assert here.reported[0].header.outcome is Outcome.ROLLBACK

    play(scene)


def test_a_token_goes_only_to_the_server_that_it_is_for() -> None:
    async def scene() -> None:
        async with serving(answering()) as there, serving(answering()) as elsewhere:
            reported: list[ResponseArrived | RequestFailed] = []
            origin = f"http://127.0.0.1:{there.port}"
            courier = Courier(
                reported.append, BodyStore(), response_time=seconds(60), credentials={origin: "Bearer secret"}
            )
            for channel, server in enumerate((there, elsewhere)):
                url = f"http://127.0.0.1:{server.port}/httpr/orders"
                courier.send(SendRequest(channel, 1, 1, url, push(1), (Message(body=b"a"),)))
            await until(lambda: len(reported) == 2)
            assert b"authorization: Bearer secret\r\n" in there.heads[0]
            assert b"authorization" not in elsewhere.heads[0]
            assert (courier.messages_out, courier.messages_in, courier.answers) == (2, 0, {0: 2})
            courier.stop()

    play(scene)
