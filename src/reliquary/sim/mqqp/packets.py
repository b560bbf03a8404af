"""Decodes the packets of a run, each of them once."""

from __future__ import annotations

from reliquary.protocols.mqqp.codec.qm2qm import NO_HANDLE, ReadStarted, ReadStarted2, Response
from reliquary.queueing.model.message import Message
from reliquary.queueing.packets.messages import deserialize


class Packets:
    """All packets that were sent in a run."""

    def __init__(self) -> None:
        self._decoded: dict[bytes, Message] = {}

    def read(self, response: Response) -> Message | None:
        """Return the message in a response; None if it has none."""
        if not isinstance(response, ReadStarted | ReadStarted2) or response.read is None:
            return None
        packet = response.read.packet
        if packet is None:
            return None
        message = self._decoded.get(packet)
        if message is None:
            message = self._decoded[packet] = deserialize(packet)
        return message


def is_locked(response: Response) -> bool:
    """Return whether a response locks a message on trial: it has a handle that has to be ended."""
    return isinstance(response, ReadStarted | ReadStarted2) and response.handle != NO_HANDLE
