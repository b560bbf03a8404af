"""Provides an agent of an application without `await`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from ssl import SSLContext
from types import TracebackType
from typing import Literal, Unpack

from reliquary.client.agent import RETRY, AgentStatus, AsyncAgent, AsyncReceiving, agent_async
from reliquary.client.message import Body, Message, OutgoingMessage, SendOptions, Sent
from reliquary.client.sync.consumer import Consumer
from reliquary.client.sync.portal import OnPortal, Portal
from reliquary.client.sync.queue import Queue
from reliquary.client.sync.transaction import Transaction


class Agent(OnPortal[AsyncAgent]):
    """Does the work of AsyncAgent without `await`; made by `agent`. Threads may share it."""

    # -- to the server

    def destination(self, queue: str) -> str:
        """Return the format name of a queue of the server."""
        return self._inner.destination(queue)

    def send(self, queue: str, body: Body | OutgoingMessage, **options: Unpack[SendOptions]) -> Sent:
        """Send one message to a queue of the server; it is on disk here when this returns.

        In a block of `receive` or `transaction` it is sent after the block, unless that raises an exception.
        """
        return self._portal.call(self._inner.send(queue, body, **options))

    def send_many(
        self, queue: str, bodies: Iterable[Body | OutgoingMessage], **options: Unpack[SendOptions]
    ) -> list[Sent]:
        """Send several messages: all of them or none, in their order."""
        return self._portal.call(self._inner.send_many(queue, bodies, **options))

    def send_soap(
        self,
        queue: str,
        envelope: Body,
        action: str = "",
        version: Literal["1.1", "1.2"] = "1.1",
        **options: Unpack[SendOptions],
    ) -> Sent:
        """Send an envelope of SOAP, with its header fields."""
        return self._portal.call(self._inner.send_soap(queue, envelope, action, version, **options))

    def flush(self, timeout: float | None = 30) -> None:
        """Return when the server has committed all sent messages; None sets no time limit.

        ServerUnreachable has the reason if it has not; the messages are safe, and are retried.
        """
        self._portal.call(self._inner.flush(timeout))

    def dead_letters(self) -> Queue:
        """Return the queue of messages that were refused or expired; `message_class` has the reason."""
        return Queue(self._portal, self._inner.dead_letters())

    # -- from the server

    def queue(self, name: str) -> Queue:
        """Return a local queue into which messages are fetched."""
        return Queue(self._portal, self._inner.queue(name))

    def receive(self, queue: str, timeout: float | None = 0, within: float = 60) -> Receiving:
        """Return a block with the next message, or None when none comes in `timeout` seconds.

        After the block the message is removed, and the messages of the block are sent; after
        an exception, a crash, or more than `within` seconds it is available again, and nothing was sent.
        """
        return Receiving(self._portal, self._inner.receive(queue, timeout, within))

    def consume(
        self, queue: str, batch: int = 64, hold: float = 30, timeout: float | None = None
    ) -> Consumer:
        """Receive messages one after another, faster than `receive`, each at least once.

        See `AsyncConsumer`.
        """
        return Consumer(self._portal, self._inner.consume(queue, batch, hold, timeout))

    def transaction(self, timeout: float = 60) -> Transaction:
        """Return a block whose sends and receives take effect as a whole."""
        return Transaction(self._portal, self._inner.transaction(timeout))

    # -- the agent itself

    def status(self) -> AgentStatus:
        """Return the state of the agent: waiting messages, and its channels with batches in doubt."""
        return self._portal.call(self._inner.status())


class Receiving:
    """Does the work of AsyncReceiving: `with agent.receive("replies") as message: ...`; it belongs to one
    thread.
    """

    def __init__(self, portal: Portal, inner: AsyncReceiving) -> None:
        self._portal = portal
        self._inner = inner

    def __enter__(self) -> Message | None:
        message = self._portal.call(self._inner.begin())
        self._inner.join()
        return message

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._inner.part()
        self._portal.call(self._inner.end(error))


def agent(
    folder: str | Path,
    server: str,
    *,
    name: str,
    fetch: Sequence[str] = (),
    inbox: Sequence[str] = (),
    tls: SSLContext | None = None,
    token: str | None = None,
    user: str | None = None,
    password: str | None = None,
    retry: Sequence[float] = RETRY,
) -> Agent:
    """Return an agent that sends to a server and receives from it exactly once, with its own folder.

        with agent("state/", "http://host:8480", name="laptop/app") as here:
            here.send("orders", b"two lamps")
            here.flush()

    `server` is a Reliquary server's address, or the URI of any HTTPR agent, `httpr://host/service`.  `name`
    is the agent's own, unique and for all time: the server knows it as `httpr://laptop/app`.

    `fetch` names queues of the server that are emptied into queues with their names here; `inbox` names
    queues here that others reach through the server as `DIRECT=HTTPR://laptop/app#queue`, such as the
    `response_queue` of what is sent.

    `tls` is for https.  `token`, or `user` with `password`, authenticates.  `retry` has the seconds that a
    channel pauses after one failure, two, and so on.
    """
    opening = agent_async(
        folder,
        server,
        name=name,
        fetch=fetch,
        inbox=inbox,
        tls=tls,
        token=token,
        user=user,
        password=password,
        retry=retry,
    )
    portal = Portal()
    try:
        return Agent(portal, portal.call(opening.open()))
    except BaseException:
        portal.close()
        raise
