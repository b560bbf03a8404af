"""Reads queues in process: messages, handles and cursors, each request as one event for an engine."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from uuid import UUID

from reliquary.client import translate
from reliquary.client.faults import translate_errors
from reliquary.client.inbox import Inbox
from reliquary.client.records import Access, LookUp, Peek, Receive, Received, Share
from reliquary.client.translate import number_of
from reliquary.engine.loop import Engine
from reliquary.net.api.numbers import LONGEST_WAIT, hold_of, span_of, wait_of
from reliquary.queueing.model import events
from reliquary.queueing.rules.transactions import transaction_of


class LocalReading:
    """The part of `Transport` that reads queues, for an engine of this process."""

    named_queue = ""

    def __init__(self, engine: Engine) -> None:
        self._inbox = Inbox(engine)

    # -- messages

    async def receive(self, queue: str, ask: Receive) -> Received:
        """Receive messages; the change is synced before this returns."""
        with translate_errors():
            make = partial(
                events.ReceiveMessages,
                queue=source_of(queue, ask.handle),
                count=ask.count,
                timeout=wait_of(ask.timeout),
                transaction=optional_transaction(ask.transaction),
                hold=hold_of(ask.hold),
                acknowledge=number_of(ask.acknowledge, "receipt"),
                cursor=number_of(ask.cursor, "cursor"),
            )
        return _shown(await self._inbox.read(make))

    async def end_read(
        self,
        receipt: str,
        lookup_ids: Sequence[int],
        *,
        delete: bool,
        reject: bool = False,
        unseen: bool = False,
    ) -> None:
        """Acknowledge messages of a receipt, or return them to their queue.

        `reject` makes them dead letters; those returned as `unseen` count as never handed out.
        """
        number, places = number_of(receipt, "receipt"), tuple(lookup_ids)
        await self._inbox.do(lambda to: events.EndRead(to, number, delete, places, reject, unseen))

    async def peek(self, queue: str, ask: Peek) -> Received:
        """Return the first matching message without removing it."""
        with translate_errors():
            make = partial(
                events.PeekMessage,
                queue=source_of(queue, ask.handle),
                timeout=wait_of(ask.timeout),
                cursor=number_of(ask.cursor, "cursor"),
                next=ask.next,
            )
        return _shown(await self._inbox.read(make))

    async def look_up(self, queue: str, ask: LookUp) -> Received:
        """Read the message with this LookupIdentifier, or its neighbour in the queue."""
        with translate_errors():
            make = partial(
                events.LookUpMessage,
                queue=source_of(queue, ask.handle),
                lookup_id=ask.lookup_id,
                seek=events.Seek(ask.seek),
                peek=ask.peek,
                transaction=optional_transaction(ask.transaction),
                hold=hold_of(ask.hold),
            )
        return _shown(await self._inbox.read(make, empty=()))

    async def browse(self, queue: str, after: int | None, limit: int, handle: str | None = None) -> Received:
        """Return the messages after a position without removing them."""
        source, place = source_of(queue, handle), -1 if after is None else after
        return _shown(await self._inbox.read(lambda to: events.BrowseMessages(to, source, place, limit)))

    # -- handles and cursors

    async def open(self, queue: str, access: Access, share: Share, lease: float) -> str:
        """Open a queue and return the handle."""
        with translate_errors():
            make = partial(
                events.OpenQueue,
                path=queue,
                access=events.Access(access),
                share=events.Share(share),
                lease=span_of("lease", lease, LONGEST_WAIT),
            )
        return str((await self._inbox.ask(make, events.Opened)).handle)

    async def close_handle(self, handle: str) -> None:
        """Close an open queue handle."""
        number = number_of(handle, "handle")
        await self._inbox.do(lambda to: events.CloseQueue(to, number))

    async def open_cursor(self, handle: str) -> str:
        """Open a cursor on an open queue."""
        number = number_of(handle, "handle")
        opened = await self._inbox.ask(lambda to: events.OpenCursor(to, number), events.Opened)
        return str(opened.handle)

    async def close_cursor(self, cursor: str) -> None:
        """Close a cursor and forget its position."""
        number = number_of(cursor, "cursor")
        await self._inbox.do(lambda to: events.CloseCursor(to, number))

    async def purge_queue(self, name: str) -> int:
        """Empty a queue, and return how many messages were deleted."""
        return (await self._inbox.ask(lambda to: events.PurgeQueue(to, name), events.Purged)).count


def _shown(answer: events.Received) -> Received:
    messages = list(map(translate.shown, answer.messages))
    return Received(messages, str(answer.receipt) if answer.receipt else None)


def source_of(queue: str, handle: str | None) -> int | str:
    """Return the handle through which a queue is used, or else its name."""
    return queue if handle is None else number_of(handle, "handle")


def optional_transaction(name: str | None) -> UUID | None:
    """Return the transaction of a request, if there is one."""
    return None if name is None else transaction_named(name)


def transaction_named(name: str) -> UUID:
    """Return a transaction by the name that a caller gave."""
    with translate_errors():
        return transaction_of(name)
