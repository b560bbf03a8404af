"""Provides the methods of a manager for its nouns of administration, with `await` and without.

`list_records`, `show_record` and `act_on` take any noun of `client/nouns.py`.  The other methods name nouns
that applications use, and return their records with a type.
"""

from __future__ import annotations

from typing import Any, TypeVar

from reliquary.client.streams import STREAM
from reliquary.client.sync.portal import OnPortal
from reliquary.client.transport import Transport
from reliquary.protocols.httpr.nouns import CHANNEL, BatchInfo, ChannelInfo
from reliquary.protocols.mqqb.nouns import SESSION, SessionInfo
from reliquary.protocols.mqqp.nouns import RPC, AssociationInfo
from reliquary.protocols.wsrm.nouns import SEQUENCE, SequenceInfo
from reliquary.queueing.model.administration import Key, Noun, R
from reliquary.streams.records import StreamInfo
from reliquary.views.outgoing_queues import OUTGOING, ConnectionAttempt, OutgoingInfo
from reliquary.views.transactions import TransactionInfo

__all__ = [
    "Administration",
    "AssociationInfo",
    "AsyncAdministration",
    "BatchInfo",
    "ChannelInfo",
    "ConnectionAttempt",
    "OutgoingInfo",
    "SequenceInfo",
    "SessionInfo",
    "StreamInfo",
    "TransactionInfo",
]


class AsyncAdministration:
    """Lists, shows and acts on the nouns of a manager."""

    def __init__(self, transport: Transport) -> None:
        self.transport = transport

    async def close(self) -> None:
        """Close the connection to the server, or the folder; the end of the block also does that."""
        await self.transport.close()

    async def list_records(self, noun: Noun[R], **filters: Any) -> list[R]:
        """Return all records of a noun, or those that match the filters."""
        return await self.transport.list_records(noun, **filters)

    async def show_record(self, noun: Noun[R], key: Key) -> R:
        """Return the record of a noun that has this key."""
        return await self.transport.show_record(noun, key)

    async def act_on(self, noun: Noun[R], key: Key, verb: str, **parameters: Any) -> R:
        """Act on the record that has this key, and return its new state."""
        return await self.transport.act_on(noun, key, verb, **parameters)

    async def outgoing(self) -> list[OutgoingInfo]:
        """Return the outgoing queues, with messages that wait for other managers."""
        return await self.list_records(OUTGOING)

    async def outgoing_queue(self, destination: str) -> OutgoingInfo:
        """Return the outgoing queue of one destination."""
        return await self.show_record(OUTGOING, destination)

    async def pause(self, destination: str) -> OutgoingInfo:
        """Stop sending to this destination until it is resumed, also after a restart."""
        return await self.act_on(OUTGOING, destination, "pause")

    async def resume(self, destination: str) -> OutgoingInfo:
        """Send messages to this destination again."""
        return await self.act_on(OUTGOING, destination, "resume")

    async def streams(self) -> list[StreamInfo]:
        """Return the streams: messages that go to another manager, or come from one, in one order."""
        return await self.list_records(STREAM)

    async def stream(self, name: str) -> StreamInfo:
        """Return one stream by its name, such as `out-7`."""
        return await self.show_record(STREAM, name)

    async def reset_stream(self, name: str, *, renumber: bool = False) -> StreamInfo:
        """Restart a stream that its peer cannot continue.

        In an outgoing stream, messages without a receipt become dead letters; `renumber` sends them again.
        In an incoming stream, the next message is accepted with any number.
        """
        return await self.act_on(STREAM, name, "reset", renumber=renumber)

    async def channels(self) -> list[ChannelInfo]:
        """Return the channels of HTTPR, with the last batches sent to and received from other agents."""
        return await self.list_records(CHANNEL)

    async def channel(self, number: int) -> ChannelInfo:
        """Return one channel by its number."""
        return await self.show_record(CHANNEL, number)

    async def report_channel(self, number: int) -> ChannelInfo:
        """Ask the responder of a channel now for the outcome of batches in doubt."""
        return await self.act_on(CHANNEL, number, "report")

    async def forget_channel(self, number: int) -> ChannelInfo:
        """Forget the ids of a channel without batches in doubt, here and at its responder."""
        return await self.act_on(CHANNEL, number, "forget")

    async def settle_channel(self, number: int, *, arrived: bool) -> ChannelInfo:
        """Decide about all batches in doubt, in place of a peer that will never answer again.

        With `arrived` the messages leave; otherwise they can be received and sent again.
        """
        return await self.act_on(CHANNEL, number, "settle", arrived=arrived)

    async def sequences(self) -> list[SequenceInfo]:
        """Return the sequences of WS-ReliableMessaging: messages that come from a peer, or go to one."""
        return await self.list_records(SEQUENCE)

    async def sequence(self, number: int) -> SequenceInfo:
        """Return one sequence by its number."""
        return await self.show_record(SEQUENCE, number)

    async def close_sequence(self, number: int) -> SequenceInfo:
        """Close a sequence for new messages; an outgoing one ends when all messages are acknowledged."""
        return await self.act_on(SEQUENCE, number, "close")

    async def terminate_sequence(self, number: int) -> SequenceInfo:
        """End a sequence now; unacknowledged messages of an outgoing one are sent in a new one."""
        return await self.act_on(SEQUENCE, number, "terminate")

    async def associations(self) -> list[AssociationInfo]:
        """Return the associations of DCE/RPC.

        Clients that read queues here, and remote queues that are read.
        """
        return await self.list_records(RPC)

    async def association(self, name: str) -> AssociationInfo:
        """Return one association by its name, such as `in-1`."""
        return await self.show_record(RPC, name)

    async def close_association(self, name: str) -> AssociationInfo:
        """Close the connections of an association; messages that it has locked become available."""
        return await self.act_on(RPC, name, "close")

    async def sessions(self) -> list[SessionInfo]:
        """Return the sessions of MQQB: connections with other queue managers, in both directions."""
        return await self.list_records(SESSION)

    async def session(self, name: str) -> SessionInfo:
        """Return one session of MQQB, such as `out-1`."""
        return await self.show_record(SESSION, name)

    async def close_session(self, name: str) -> SessionInfo:
        """Close a session of MQQB; another one is opened when messages wait for its peer."""
        return await self.act_on(SESSION, name, "close")


Inner = TypeVar("Inner", bound=AsyncAdministration)


class Administration(OnPortal[Inner]):
    """The methods of AsyncAdministration for callers without an event loop."""

    def list_records(self, noun: Noun[R], **filters: Any) -> list[R]:
        """Return all records of a noun, or those that match the filters."""
        return self._portal.call(self._inner.list_records(noun, **filters))

    def show_record(self, noun: Noun[R], key: Key) -> R:
        """Return the record of a noun that has this key."""
        return self._portal.call(self._inner.show_record(noun, key))

    def act_on(self, noun: Noun[R], key: Key, verb: str, **parameters: Any) -> R:
        """Act on the record that has this key, and return its new state."""
        return self._portal.call(self._inner.act_on(noun, key, verb, **parameters))

    def outgoing(self) -> list[OutgoingInfo]:
        """Return the outgoing queues, with messages that wait for other managers."""
        return self.list_records(OUTGOING)

    def outgoing_queue(self, destination: str) -> OutgoingInfo:
        """Return the outgoing queue of one destination."""
        return self.show_record(OUTGOING, destination)

    def pause(self, destination: str) -> OutgoingInfo:
        """Stop sending to this destination until it is resumed, also after a restart."""
        return self.act_on(OUTGOING, destination, "pause")

    def resume(self, destination: str) -> OutgoingInfo:
        """Send messages to this destination again."""
        return self.act_on(OUTGOING, destination, "resume")

    def streams(self) -> list[StreamInfo]:
        """Return the streams: messages that go to another manager, or come from one, in one order."""
        return self.list_records(STREAM)

    def stream(self, name: str) -> StreamInfo:
        """Return one stream by its name, such as `out-7`."""
        return self.show_record(STREAM, name)

    def reset_stream(self, name: str, *, renumber: bool = False) -> StreamInfo:
        """Restart a stream that its peer cannot continue.

        In an outgoing stream, messages without a receipt become dead letters; `renumber` sends them again.
        In an incoming stream, the next message is accepted with any number.
        """
        return self.act_on(STREAM, name, "reset", renumber=renumber)

    def channels(self) -> list[ChannelInfo]:
        """Return the channels of HTTPR, with the last batches sent to and received from other agents."""
        return self.list_records(CHANNEL)

    def channel(self, number: int) -> ChannelInfo:
        """Return one channel by its number."""
        return self.show_record(CHANNEL, number)

    def report_channel(self, number: int) -> ChannelInfo:
        """Ask the responder of a channel now for the outcome of batches in doubt."""
        return self.act_on(CHANNEL, number, "report")

    def forget_channel(self, number: int) -> ChannelInfo:
        """Forget the ids of a channel without batches in doubt, here and at its responder."""
        return self.act_on(CHANNEL, number, "forget")

    def settle_channel(self, number: int, *, arrived: bool) -> ChannelInfo:
        """Decide about all batches in doubt, in place of a peer that will never answer again.

        With `arrived` the messages leave; otherwise they can be received and sent again.
        """
        return self.act_on(CHANNEL, number, "settle", arrived=arrived)

    def sequences(self) -> list[SequenceInfo]:
        """Return the sequences of WS-ReliableMessaging: messages that come from a peer, or go to one."""
        return self.list_records(SEQUENCE)

    def sequence(self, number: int) -> SequenceInfo:
        """Return one sequence by its number."""
        return self.show_record(SEQUENCE, number)

    def close_sequence(self, number: int) -> SequenceInfo:
        """Close a sequence for new messages; an outgoing one ends when all messages are acknowledged."""
        return self.act_on(SEQUENCE, number, "close")

    def terminate_sequence(self, number: int) -> SequenceInfo:
        """End a sequence now; unacknowledged messages of an outgoing one are sent in a new one."""
        return self.act_on(SEQUENCE, number, "terminate")

    def associations(self) -> list[AssociationInfo]:
        """Return the associations of DCE/RPC.

        Clients that read queues here, and remote queues that are read.
        """
        return self.list_records(RPC)

    def association(self, name: str) -> AssociationInfo:
        """Return one association by its name, such as `in-1`."""
        return self.show_record(RPC, name)

    def close_association(self, name: str) -> AssociationInfo:
        """Close the connections of an association; messages that it has locked become available."""
        return self.act_on(RPC, name, "close")

    def sessions(self) -> list[SessionInfo]:
        """Return the sessions of MQQB: connections with other queue managers, in both directions."""
        return self.list_records(SESSION)

    def session(self, name: str) -> SessionInfo:
        """Return one session of MQQB, such as `out-1`."""
        return self.show_record(SESSION, name)

    def close_session(self, name: str) -> SessionInfo:
        """Close a session of MQQB; another one is opened when messages wait for its peer."""
        return self.act_on(SESSION, name, "close")
