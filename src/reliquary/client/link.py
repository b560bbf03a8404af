"""Blocking requests to a server, for threads without an event loop, for example in the processes of Spark.

    ask      send a request and return the complete answer; retried, because these requests are idempotent
    reading  read an answer while it arrives; retried until the answer begins
    put      send a body while it is produced; retried until the connection is open

Connections are kept open, and each serves one request at a time.  After a fork or a pickle, the other process
opens its own connections.

    no answer    the request was not sent, or changes nothing: ServerUnreachable
                 a request that changes something was sent:    OutcomeUnknown
"""

from __future__ import annotations

import os
import select
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

import msgspec

from reliquary.client.certificates import ClientCertificates
from reliquary.client.errors import BadRequest, OutcomeUnknown, ReliquaryError, ServerUnreachable
from reliquary.client.wire import PREFIX, refused

PAUSES: Final = (0.2, 1.0, 3.0)
"""Seconds before each retry; a server that restarts is usually available again within their sum."""
SYSTEM: Final = ClientCertificates()
"""The authorities of the system, and no certificate of the client."""
SILENCE: Final = 60.0
"""The default time-out of a server that sends nothing, in seconds."""

T = TypeVar("T")
_encode = msgspec.json.Encoder().encode


class _NoAnswer(Exception):
    """The network failed; `sent`: the server may have received the request; `again`: a retry may succeed."""

    def __init__(self, why: object, *, sent: bool, again: bool = True) -> None:
        super().__init__(str(why) or type(why).__name__)
        self.sent = sent
        self.again = again


class Link:
    """The connections to one server; only one thread may use them at a time."""

    def __init__(
        self,
        url: str,
        authorization: str | None = None,
        files: ClientCertificates = SYSTEM,
        timeout: float = SILENCE,
        pauses: Sequence[float] = PAUSES,
    ) -> None:
        """`authorization` is the header of `authorization_of`; without it the client is anonymous."""
        try:
            parts = urlsplit(url)
            port = parts.port
        except ValueError as why:
            raise BadRequest("INVALID_PARAMETER", f"{url!r} is not an address: {why}") from why
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise BadRequest("INVALID_PARAMETER", f"{url!r} must be like http://host:port")
        if timeout <= 0:
            raise BadRequest("INVALID_PARAMETER", f"a timeout is more than 0 seconds, not {timeout}")
        self.url = url
        self._host, self._port = parts.hostname, port
        self._tls = parts.scheme == "https"
        self._base = parts.path.rstrip("/") + PREFIX
        self._files = files
        self._timeout = timeout
        self._pauses = tuple(pauses)
        self._headers = {} if authorization is None else {"Authorization": authorization}
        self._idle: list[HTTPConnection] = []
        self._process = os.getpid()

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_idle": [], "_process": 0}

    def close(self) -> None:
        """Close the connection; a later request opens a new one."""
        while self._idle:
            self._idle.pop().close()

    # -- asking

    def ask(self, method: str, path: str, body: object = None, *, changes: bool = False) -> bytes:
        """Send a request, and return its whole answer."""
        data = b"" if body is None else _encode(body)
        return self._patiently(lambda: self._exchange(method, path, data), changes=changes)

    def _exchange(self, method: str, path: str, data: bytes) -> bytes:
        connection, response = self._begin(method, path, data)
        try:
            body = response.read()
        except (HTTPException, OSError) as why:
            connection.close()
            raise _NoAnswer(why, sent=True) from why
        self._keep(connection, response)
        return body

    @contextmanager
    def reading(self, path: str) -> Iterator[HTTPResponse]:
        """Yield an answer that is read while it arrives; an answer that is not read to its end closes the
        connection.
        """
        connection, response = self._patiently(lambda: self._begin("GET", path, b""), changes=False)
        whole = False
        try:
            yield response
            whole = not response.read()
        except (HTTPException, OSError) as why:
            sentence = f"{self.url} broke off in the middle of an answer ({_described(why)}): ask again"
            raise ServerUnreachable(sentence=sentence) from why
        finally:
            if whole:
                self._keep(connection, response)
            else:
                connection.close()

    def put(self, path: str, pieces: Iterable[bytes]) -> bytes:
        """Send a body while it is made, until the server has enough; return the answer."""
        connection = self._patiently(self._connected, changes=False)
        try:
            connection.putrequest("PUT", self._base + path)
            for name, value in {**self._headers, "Transfer-Encoding": "chunked"}.items():
                connection.putheader(name, value)
            broken = self._send(connection, pieces)
            try:
                response = connection.getresponse()
                answer = response.read()
            except (HTTPException, OSError) as why:
                sentence = f"{self.url} broke off while it was sent a part ({_described(broken or why)})"
                raise ServerUnreachable(sentence=f"{sentence}: nothing of it counts, send it again") from why
            if response.status >= 400:
                raise refused(response.status, answer)
            return answer
        finally:
            connection.close()

    def _send(self, connection: HTTPConnection, pieces: Iterable[bytes]) -> OSError | None:
        """Send pieces until the server answers or disconnects; its answer may have arrived even then."""
        answers = select.poll()
        try:
            connection.endheaders()
            if not self._tls:  # other data than answers may arrive, such as tickets of the session
                answers.register(connection.sock, select.POLLIN)
        except OSError as why:
            return why
        for piece in pieces:
            if answers.poll(0):
                return None
            try:
                connection.send(b"%x\r\n%b\r\n" % (len(piece), piece))
            except OSError as why:
                return why
        try:
            connection.send(b"0\r\n\r\n")
        except OSError as why:
            return why
        return None

    # -- one try

    def _begin(self, method: str, path: str, data: bytes) -> tuple[HTTPConnection, HTTPResponse]:
        """Send a request and wait for the head of its answer."""
        kept = self._kept()
        if kept is None:
            return self._sent(self._connected(), method, path, data)
        try:
            return self._sent(kept, method, path, data)
        except _NoAnswer as silence:  # usually the server closed the connection some time ago
            if not silence.sent:
                raise
        self.close()
        try:
            return self._sent(self._connected(), method, path, data)
        except _NoAnswer as silence:
            silence.sent = True
            raise

    def _sent(
        self, connection: HTTPConnection, method: str, path: str, data: bytes
    ) -> tuple[HTTPConnection, HTTPResponse]:
        headers = {**self._headers, "Content-Type": "application/json"} if data else self._headers
        try:
            connection.request(method, self._base + path, data or None, headers)
            response = connection.getresponse()
            if response.status < 400:
                return connection, response
            body = response.read()
        except (HTTPException, OSError) as why:
            connection.close()
            raise _NoAnswer(why, sent=True) from why
        self._keep(connection, response)
        error = refused(response.status, body)
        if isinstance(error, ServerUnreachable):
            raise _NoAnswer(error.sentence, sent=False) from error
        raise error

    def _connected(self) -> HTTPConnection:
        """Return a new connection to the server."""
        try:
            connection = (
                HTTPSConnection(self._host, self._port, timeout=self._timeout, context=self._files.context())
                if self._tls
                else HTTPConnection(self._host, self._port, timeout=self._timeout)
            )
            connection.connect()
        except ssl.SSLCertVerificationError as why:
            problem = f"its certificate is not trusted ({why.verify_message}); name the file of its authority"
            raise _NoAnswer(problem, sent=False, again=False) from why
        except OSError as why:
            raise _NoAnswer(why, sent=False) from why
        return connection

    # -- connections that are kept

    def _kept(self) -> HTTPConnection | None:
        if self._process != os.getpid():  # connections of the parent process stay open there
            self.close()
            self._process = os.getpid()
        return self._idle.pop() if self._idle else None

    def _keep(self, connection: HTTPConnection, response: HTTPResponse) -> None:
        if response.will_close:
            connection.close()
        else:
            self._idle.append(connection)

    # -- patience

    def _patiently(self, work: Callable[[], T], *, changes: bool) -> T:
        sent = False
        for pause in (*self._pauses, None):
            try:
                return work()
            except _NoAnswer as silence:
                sent = sent or silence.sent
                if pause is None or not silence.again:
                    raise self._silence(silence, unknown=changes and sent) from silence
            time.sleep(pause)  # noqa: TID251 - there is no notice when a server is available again
        raise AssertionError("the last try answers or raises")

    def _silence(self, silence: _NoAnswer, *, unknown: bool) -> ReliquaryError:
        if unknown:
            return OutcomeUnknown(
                sentence=f"{self.url} did not answer, and may have done it or not: {silence}"
            )
        return ServerUnreachable(sentence=f"{self.url} does not answer: {silence}")


def _described(why: BaseException) -> str:
    return str(why) or type(why).__name__
