"""Sends and receives exactly once over HTTPR, for an application with its own folder.

    async with agent_async("state/", "http://host:8480", name="laptop/app", fetch=("replies",)) as agent:
        await agent.send("orders", b"two lamps")                       # on disk here when it returns
        async with agent.receive("replies", timeout=5) as message:     # removed at the end of the block
            ...

    application --> outgoing queue --- PUSH --> "orders" of the server
                <-- "replies" here <-- PULL --- "replies" of the server

A queue manager of its own runs in the process, on the folder, and sends requests as the agent
`httpr://laptop/app`. Messages that are sent while the server cannot be reached wait here; fetched
messages are stored here before the server deletes them. A crash on either side, at any moment, loses
and doubles nothing.
"""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from ssl import SSLContext, create_default_context
from types import TracebackType
from typing import Any, Final, Literal, Unpack
from urllib.parse import unquote

import msgspec

from reliquary.base.time import seconds
from reliquary.client.agent_names import AgentNames, agent_names
from reliquary.client.authorization import authorization_of
from reliquary.client.consumer import AsyncConsumer
from reliquary.client.errors import BadRequest, ReliquaryError, ServerUnreachable
from reliquary.client.faults import translate_errors
from reliquary.client.local import LocalTransport, open_local
from reliquary.client.manager import AsyncManager
from reliquary.client.message import Body, Message, OutgoingMessage, SendOptions, Sent, outgoing
from reliquary.client.queue import AsyncQueue
from reliquary.client.transaction import AsyncTransaction, current
from reliquary.net.httpr.courier import Courier, plug_in
from reliquary.protocols.httpr.events import Addressed
from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.nouns import ChannelInfo
from reliquary.protocols.httpr.settings import RETRY_LADDER, HttprSettings, Peer
from reliquary.protocols.httpr.soap import SoapVersion, soap_fields
from reliquary.protocols.httpr.state import State as HttprState
from reliquary.protocols.httpr.tables import Role
from reliquary.queueing.model.message import FOREVER
from reliquary.views.outgoing_queues import outgoing_queues

DEAD_LETTERS: Final = "system$;deadxact"
RETRY: Final = tuple(span / seconds(1) for span in RETRY_LADDER)
LOOK_AGAIN: Final = 1.0
"""The seconds after which a flush checks again, because an expired message leaves without a notification."""
SOAP: Final = {"1.1": SoapVersion.SOAP_1_1, "1.2": SoapVersion.SOAP_1_2}


class AgentStatus(msgspec.Struct, frozen=True, kw_only=True):
    """The state of an agent: waiting messages and channels."""

    name: str
    """The name `httpr://laptop/app`; it never changes."""
    server: str
    waiting: int
    """Messages that the server has not committed, as far as this agent knows."""
    refused: int
    """Messages that the server refused since the agent was opened; they are in `dead_letters()`."""
    channels: list[ChannelInfo]


class AsyncAgent:
    """The agent of an application at its end of HTTPR; made by `agent_async`."""

    def __init__(self, manager: AsyncManager, transport: LocalTransport, names: AgentNames) -> None:
        self.manager = manager
        """The queue manager in this process, with its queues and transactions."""
        self.names = names
        self._transport = transport
        self._state = transport.opened.state
        self._moved = asyncio.Event()
        self._courier: Courier | None = None
        self._refusals_counted = 0

    # -- to the server

    def destination(self, queue: str) -> str:
        """Return the format name of a queue of the server."""
        return self.names.destination(queue)

    async def send(self, queue: str, body: Body | OutgoingMessage, **options: Unpack[SendOptions]) -> Sent:
        """Send one message to a queue of the server; it is on disk here when this returns.

        In a block of `receive` or `transaction` it is sent after the block, unless that raises an exception.
        """
        return (await self.send_many(queue, [body], **options))[0]

    async def send_many(
        self, queue: str, bodies: Iterable[Body | OutgoingMessage], **options: Unpack[SendOptions]
    ) -> list[Sent]:
        """Send several messages: all of them or none, in their order."""
        there = self.manager.queue(self.destination(queue))
        messages = [_patient(body, **options) for body in bodies]
        if current(self.manager) is not None:
            return await there.send_many(messages)
        async with self.manager.transaction():
            return await there.send_many(messages)

    async def send_soap(
        self,
        queue: str,
        envelope: Body,
        action: str = "",
        version: Literal["1.1", "1.2"] = "1.1",
        **options: Unpack[SendOptions],
    ) -> Sent:
        """Send an envelope of SOAP, with its header fields."""
        if version not in SOAP:
            raise BadRequest("INVALID_PARAMETER", f"version is 1.1 or 1.2, not {version!r}")
        options["httpr"] = {**soap_fields(action, SOAP[version]), **(options.get("httpr") or {})}
        return await self.send(queue, envelope, **options)

    async def flush(self, timeout: float | None = 30) -> None:  # noqa: ASYNC109
        """Return when the server has committed all sent messages; None sets no time limit.

        ServerUnreachable has the reason if it has not; the messages are safe, and are retried.
        """
        try:
            async with asyncio.timeout(timeout):
                while self._waiting():
                    self._moved.clear()
                    with suppress(TimeoutError):
                        async with asyncio.timeout(LOOK_AGAIN):
                            await self._moved.wait()
                    await self._transport.opened.settled()
        except TimeoutError:
            raise ServerUnreachable(sentence=self._why_waiting()) from None
        count = self._refused() - self._refusals_counted
        self._refusals_counted += count
        if count > 0:
            sentence = f"{self.names.server} refused {count} of the messages for good; see dead_letters()"
            raise ReliquaryError("REFUSED", sentence)

    def _waiting(self) -> int:
        return sum(each.messages for each in outgoing_queues(self._state))

    def _refused(self) -> int:
        return sum(each.refused for each in outgoing_queues(self._state))

    def _why_waiting(self) -> str:
        channels = self._transport.opened.machine(Httpr).state.client.channels.values()
        errors = [each.retry.last_error for each in channels if each.retry.last_error and each.retry.failures]
        errors += [self._no_queue(number) for each in channels for number in each.refusals.missing]
        why = f": {errors[-1]}" if errors else ""
        count = self._waiting()
        waiting = "1 message still waits" if count == 1 else f"{count} messages still wait"
        return f"{waiting} for {self.names.server}{why}"

    def _no_queue(self, number: int) -> str:
        """Return a sentence if the server lacks the queue of messages in this outgoing queue."""
        outgoing_queue = self._state.queues[number].record.outgoing
        assert outgoing_queue is not None, "messages for a server wait in an outgoing queue"
        return f"the server has no queue {unquote(outgoing_queue.destination.partition('#')[2])}"

    def dead_letters(self) -> AsyncQueue:
        """Return the queue of messages that were refused or expired; `message_class` has the reason."""
        return self.manager.queue(DEAD_LETTERS)

    # -- from the server

    def queue(self, name: str) -> AsyncQueue:
        """Return a local queue into which messages are fetched."""
        if name not in self.names.here:
            known = ", ".join(self.names.here) or "none"
            why = f"the agent fetches no queue {name!r}; those that `fetch` and `inbox` named are: {known}"
            raise BadRequest("INVALID_PARAMETER", why)
        return self.manager.queue(name)

    def receive(self, queue: str, timeout: float | None = 0, within: float = 60) -> AsyncReceiving:
        """Return a block with the next message, or None when none comes in `timeout` seconds.

        After the block the message is removed, and the messages of the block are sent; after
        an exception, a crash, or more than `within` seconds it is available again, and nothing was sent.
        """
        return AsyncReceiving(self.queue(queue), timeout, within)

    def consume(
        self, queue: str, batch: int = 64, hold: float = 30, timeout: float | None = None
    ) -> AsyncConsumer:
        """Receive messages one after another, faster than `receive`, each at least once.

        See `AsyncConsumer`.
        """
        return self.queue(queue).consume(batch, hold, timeout)

    def transaction(self, timeout: float = 60) -> AsyncTransaction:
        """Return a block whose sends and receives take effect as a whole."""
        return self.manager.transaction(timeout)

    # -- the agent itself

    async def status(self) -> AgentStatus:
        """Return the state of the agent: waiting messages, and its channels with batches in doubt."""
        channels = await self.manager.channels()
        return AgentStatus(
            name=self.names.requester,
            server=self.names.server,
            waiting=self._waiting(),
            refused=self._refused(),
            channels=channels,
        )

    async def open(self, tls: SSLContext | None, authorization: str | None) -> None:
        """Create the queues and start sending; `agent_async` calls this."""
        opened, names = self._transport.opened, self.names
        check_name(opened.machine(Httpr).state, names.requester)
        for queue in names.here:
            await self.manager.create_queue(queue, exist_ok=True)
        self._courier = plug_in(
            opened,
            response_time=opened.machine(Httpr).state.settings.response_time,
            tls=create_default_context if tls is None else lambda: tls,
            credentials={} if authorization is None else {names.origin: authorization},
            on_settled=self._moved.set,
        )
        self._courier.home = names.requester
        opened.engine.submit(Addressed(names.own_origin, frozenset({names.authority})))

    async def close(self) -> None:
        """Stop, and close the folder; waiting messages are sent after it is opened again."""
        await self.manager.close()
        if self._courier is not None:
            self._courier.stop()

    async def __aenter__(self) -> AsyncAgent:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


def _patient(body: Body | OutgoingMessage, **options: Unpack[SendOptions]) -> OutgoingMessage:
    """Return the message without a time limit; it is kept if the server refuses it."""
    if not isinstance(body, OutgoingMessage):
        options.setdefault("deadletter", True)
    message = outgoing(body, **options)
    return message if message.reach is not None else msgspec.structs.replace(message, reach=FOREVER)


class AsyncReceiving:
    """A message in a separate transaction; made by `receive`."""

    def __init__(self, queue: AsyncQueue, timeout: float | None, within: float) -> None:
        self._queue = queue
        self._timeout = timeout
        self._within = within
        self._transaction = queue.manager.transaction(within)

    async def begin(self) -> Message | None:
        """Wait for a message and receive it; the beginning of the block also does that."""
        now = asyncio.get_running_loop().time
        end = None if self._timeout is None else now() + self._timeout
        while True:
            message = await self._take()
            left = None if end is None else end - now()
            if message is not None or (left is not None and left <= 0):
                return message
            await self._transaction.abort()  # a transaction that begins now could time out during the wait
            await self._queue.peek(left)
            self._transaction = self._queue.manager.transaction(self._within)

    async def _take(self) -> Message | None:
        await self._transaction.begin()
        try:
            return await self._transaction.queue(self._queue.name).receive()
        except BaseException as error:
            await self._transaction.end(error)
            raise

    def join(self) -> None:
        """Add all messages that the agent sends to the transaction from now on."""
        self._transaction.join()

    def part(self) -> None:
        """Stop adding messages of the agent to the transaction."""
        self._transaction.part()

    async def end(self, error: BaseException | None) -> None:
        """Remove the message if there is no error; otherwise return it to its queue."""
        await self._transaction.end(error)

    async def __aenter__(self) -> Message | None:
        message = await self.begin()
        self.join()
        return message

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.part()
        await self.end(error)


def check_name(httpr: HttprState, requester: str) -> None:
    """Refuse a second agent in a folder (HR-087): batches in doubt belong to the name of the first."""
    for channel in httpr.channels.values():
        if channel.role is Role.CLIENT and channel.requester != requester:
            why = f"the folder belongs to the agent {channel.requester}, and cannot be opened as {requester}"
            raise BadRequest("INVALID_PARAMETER", why)


class Opening:
    """The result of `agent_async`, for `await` or `async with`."""

    def __init__(
        self,
        folder: str | Path,
        names: AgentNames,
        tls: SSLContext | None,
        authorization: str | None,
        retry: Sequence[float],
    ) -> None:
        self._folder = folder
        self._names = names
        self._tls = tls
        self._authorization = authorization
        self._retry = retry
        self._agent: AsyncAgent | None = None

    async def open(self) -> AsyncAgent:
        """Open the folder, and start sending."""
        names = self._names
        with translate_errors():
            settings = HttprSettings(
                requester=names.requester,
                peers=tuple(
                    Peer(responder=responder, pull=True, into=into) for responder, into in names.sources
                ),
                retry_ladder=tuple(map(seconds, self._retry)),
            )
        transport = await open_local(self._folder, settings)
        agent = AsyncAgent(AsyncManager(transport), transport, names)
        try:
            await agent.open(self._tls, self._authorization)
        except BaseException:
            await agent.close()
            raise
        return agent

    def __await__(self) -> Generator[Any, None, AsyncAgent]:
        return self.open().__await__()

    async def __aenter__(self) -> AsyncAgent:
        self._agent = await self.open()
        return self._agent

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._agent is not None
        await self._agent.close()


def agent_async(
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
) -> Opening:
    """Return an agent that sends to a server and receives from it exactly once, with its own folder.

        async with agent_async("state/", "http://host:8480", name="laptop/app") as agent:
            await agent.send("orders", b"two lamps")
            await agent.flush()

    `server` is a Reliquary server's address, or the URI of any HTTPR agent, `httpr://host/service`.  `name`
    is the agent's own, unique and for all time: the server knows it as `httpr://laptop/app`.

    `fetch` names queues of the server that are emptied into queues with their names here; `inbox` names
    queues here that others reach through the server as `DIRECT=HTTPR://laptop/app#queue`, such as the
    `response_queue` of what is sent.

    `tls` is for https.  `token`, or `user` with `password`, authenticates.  `retry` has the seconds that a
    channel pauses after one failure, two, and so on.
    """
    authorization = authorization_of(token, user, password)
    return Opening(folder, agent_names(server, name, fetch, inbox), tls, authorization, retry)
