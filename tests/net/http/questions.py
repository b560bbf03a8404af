"""A small protocol over HTTP for tests of couriers: a question, and an answer as text."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from reliquary.base.time import Duration, seconds
from reliquary.net.http.courier import HttpCourier, Terms
from reliquary.net.http.failures import Failure
from reliquary.net.http.headers import Headers
from reliquary.net.http.pending_response import PendingResponse
from reliquary.net.http.request_head import encode_chunked_head, encode_request
from tests.net.http.harness import until
from tests.net.httpr.harness import Server

NO_WAIT = Duration(0)


@dataclass(frozen=True)
class Question:
    """What is sent; one with pieces goes chunked."""

    number: int
    url: str
    body: bytes = b""
    pieces: Callable[[], Iterator[bytes]] | None = None
    target: str = "/"
    wait: Duration = NO_WAIT


class Answer(PendingResponse[Question]):
    """What comes; every part of it is progress, and another status than 200 cannot be used."""

    def __init__(self, request: Question, changed: Callable[[], None]) -> None:
        super().__init__(request, changed)
        self.wait = request.wait
        self.text = b""

    def begun(self, status: int, headers: Headers) -> None:
        del headers
        if status != 200:
            self.fail(Failure.BAD_RESPONSE, f"status {status}")

    def taken(self, data: bytes) -> None:
        self.text += data
        self.changed()

    def ended(self) -> None:
        self.is_whole = self.failure is None
        self.changed()


class Courier(HttpCourier[Question, Answer]):
    """Notes what its pipelines report."""

    def __init__(self, terms: Terms) -> None:
        super().__init__(terms)
        self.came: list[tuple[int, bytes]] = []
        self.reported: list[tuple[list[int], Failure, str]] = []
        self.refused: list[tuple[int, Failure, str]] = []

    def url_of(self, request: Question) -> str:
        return request.url

    def encode(self, request: Question) -> bytes | tuple[bytes, Iterator[bytes]]:
        if request.pieces is not None:
            return encode_chunked_head("POST", request.target, b"h", ()), request.pieces()
        return encode_request("POST", request.target, b"h", (), request.body)

    def expect(self, request: Question, changed: Callable[[], None]) -> Answer:
        return Answer(request, changed)

    def arrived(self, response: Answer) -> None:
        self.came.append((response.request.number, response.text))

    def failed(self, requests: Sequence[Question], failure: Failure, why: str) -> None:
        self.reported.append(([request.number for request in requests], failure, why))

    def refuse(self, request: Question, failure: Failure, why: str) -> None:
        self.refused.append((request.number, failure, why))


class Asking:
    """Asks one server by a courier."""

    def __init__(self, url: str, terms: Terms) -> None:
        self.url = url
        self.courier = Courier(terms)

    def ask(self, *numbers: int, key: int = 1, epoch: int = 0, **more: object) -> None:
        for number in numbers:
            pipeline = self.courier.pipelines.find(key, epoch)
            if pipeline is not None:
                body = b"question %d" % number
                pipeline.send(Question(number, self.url, **{"body": body, **more}))  # type: ignore[arg-type]

    async def wait_for(self, count: int) -> None:
        """Return when this many questions have an answer or a failure."""
        await until(lambda: len(self.courier.came) + len(self.courier.reported) >= count)


@asynccontextmanager
async def asking(
    server: Server | str,
    response_time: Duration = seconds(60),  # noqa: B008
    **how: object,
) -> AsyncIterator[Asking]:
    """Yield a courier that is stopped at the end, with the terms `how`."""
    terms = Terms(response_time=response_time, overdue="no answer", **how)  # type: ignore[arg-type]
    made = Asking(server if isinstance(server, str) else f"http://127.0.0.1:{server.port}", terms)
    try:
        yield made
    finally:
        made.courier.stop()
