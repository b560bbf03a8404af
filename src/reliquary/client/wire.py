"""Sends requests to a server, and interprets answers and missing answers.

answer below 400    the record
answer above        the API's code and sentence, as an error
no answer           no change was requested, or it was never sent: ServerUnreachable
                    a change was sent: OutcomeUnknown

Bodies are MessagePack once the server has answered in it, which one of an older version never does:

    JSON, Accept: application/msgpack  -->  a server of this version answers in MessagePack
    MessagePack                        -->  400 may come from an older server that took its place:
                                            nothing was done, and the request is sent again as JSON
"""

from __future__ import annotations

from ssl import SSLContext
from typing import Any, Final, Generic, TypeVar

import msgspec
from msgspec.json import Decoder

from reliquary.base.faults import UsageError
from reliquary.base.time import Duration, seconds
from reliquary.client.errors import BadRequest, OutcomeUnknown, ReliquaryError, ServerUnreachable, error_of
from reliquary.net.http import ClientLimits, HttpClient, RequestFailed, Response

T = TypeVar("T")
Fields = tuple[tuple[bytes, bytes], ...]

PREFIX: Final = "/api/v1"
PATIENCE: Final = 60.0
"""The seconds that an answer may take in addition to the time that the request allows."""
LARGEST_ANSWER: Final = 256 * 1024 * 1024
PACKED: Final = b"application/msgpack"
JSON_HEADERS: Final = ((b"content-type", b"application/json"), (b"accept", PACKED))
PACKED_HEADERS: Final = ((b"content-type", PACKED), (b"accept", PACKED))


class _Refusal(msgspec.Struct):
    error: str = ""
    code: str = ""


_refusal = Decoder(_Refusal)
_encode = msgspec.json.Encoder().encode
_encode_packed = msgspec.msgpack.Encoder().encode


class Answers(Generic[T]):
    """The decoders of an answer that comes as JSON or as MessagePack."""

    __slots__ = ("json", "packed")

    def __init__(self, record: type[T]) -> None:
        self.json = Decoder(record, strict=False)
        self.packed = msgspec.msgpack.Decoder(record, strict=False)


class Wire:
    """One plane of one server."""

    def __init__(self, url: str, tls: SSLContext | None = None, authorization: str | None = None) -> None:
        """`authorization` is the header of `authorization_of`; without it the client is anonymous."""
        proof = () if authorization is None else ((b"authorization", authorization.encode()),)
        self._json_headers = (*JSON_HEADERS, *proof)
        self._packed_headers = (*PACKED_HEADERS, *proof)
        self.packed = False
        """Whether the server is known to read MessagePack."""
        try:
            self._http = HttpClient(url, tls=tls, limits=ClientLimits(body_bytes=LARGEST_ANSWER))
        except (UsageError, ValueError) as why:
            raise BadRequest("INVALID_PARAMETER", str(why)) from why
        self._url = url

    async def close(self) -> None:
        """Close all connections to the server."""
        await self._http.close()

    async def read(
        self,
        method: str,
        path: str,
        record: msgspec.json.Decoder[T],
        body: Any = None,
        wait: float | None = 0,
    ) -> T:
        """Send a request that may be repeated, and return the record of the answer."""
        response = await self._request(method, path, body, wait, harmless=True)
        return _understood(record, response)

    async def change(
        self,
        method: str,
        path: str,
        record: msgspec.json.Decoder[T],
        body: Any = None,
        wait: float | None = 0,
    ) -> T:
        """Send a request for a change, and return the record of the answer."""
        response = await self._request(method, path, body, wait, harmless=False)
        return _understood(record, response)

    async def exchange(
        self,
        method: str,
        path: str,
        answers: Answers[T],
        body: Any,
        wait: float | None,
        *,
        harmless: bool,
        more: Fields = (),
    ) -> T:
        """Send or read messages; the answer shows whether the server reads MessagePack.

        `more` are header fields in addition to those that each request has.
        """
        response = await self._request(method, path, body, wait, harmless=harmless, more=more)
        self.packed = response.header(b"content-type") == PACKED
        return _understood(answers.packed if self.packed else answers.json, response)

    async def do(self, method: str, path: str, body: Any = None, wait: float | None = 0) -> None:
        """Send a request for a change that has no record in its answer."""
        await self._request(method, path, body, wait, harmless=False)

    async def text(self, method: str, path: str) -> str:
        """Request a file; the request may be repeated."""
        response = await self._request(method, path, None, 0, harmless=True)
        try:
            return bytes(response.body).decode()
        except UnicodeDecodeError as why:
            raise unreadable_answer(why) from why

    async def _request(
        self, method: str, path: str, body: Any, wait: float | None, *, harmless: bool, more: Fields = ()
    ) -> Response:
        packed = self.packed and body is not None
        if packed:
            data, headers = _encode_packed(body), self._packed_headers
        else:
            data = body if isinstance(body, bytes) else b"" if body is None else _encode(body)
            headers = self._json_headers
        time: Duration | None = None if wait is None else seconds(wait + PATIENCE)
        try:
            response = await self._http.request(
                method, PREFIX + path, data, (*headers, *more) if more else headers, time, idempotent=harmless
            )
        except RequestFailed as why:
            raise self._silence(why, harmless=harmless) from why
        except UsageError as why:
            raise BadRequest("INVALID_PARAMETER", str(why)) from why
        if response.status == 400 and packed:
            self.packed = False
            return await self._request(method, path, body, wait, harmless=harmless, more=more)
        if response.status >= 400:
            raise refused(response.status, response.body)
        return response

    def _silence(self, why: RequestFailed, *, harmless: bool) -> ReliquaryError:
        if harmless or not why.sent:
            return ServerUnreachable(sentence=f"{self._url} does not answer: {why}")
        return OutcomeUnknown(sentence=f"{self._url} did not answer, and may have done it or not: {why}")


def _understood(record: Decoder[T] | msgspec.msgpack.Decoder[T], response: Response) -> T:
    try:
        return record.decode(response.body)
    except (msgspec.MsgspecError, UnicodeDecodeError) as why:
        raise unreadable_answer(why) from why


def unreadable_answer(why: Exception) -> ReliquaryError:
    """Return the error for an answer that is not as the API describes it."""
    sentence = (
        f"the server's answer cannot be read ({why}): check that the address is that of a Reliquary server,"
        " and that its version is not newer than this client"
    )
    return ReliquaryError("BAD_ANSWER", sentence)


def refused(status: int, body: bytes | bytearray | memoryview) -> ReliquaryError:
    """Return the error that an answer reports."""
    try:
        refusal = _refusal.decode(body)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        refusal = _Refusal()
    sentence = refusal.error or (
        f"the answer has the status {status} and no reason, as every answer of a Reliquary server has: check"
        " that the address is that of one, and what a proxy on the way reports"
    )
    return error_of(refusal.code or f"HTTP_{status}", sentence, status)
