"""Packets to begin with: the published one, one with every header, the answer to a remote read."""

from __future__ import annotations

from uuid import UUID

import msgspec

from reliquary.queueing.packets.messages import construct
from reliquary.wire.packet.remote_read import (
    IPV6,
    ExtendedAddressHeader,
    Extension,
    ReadPacket,
    SubqueueHeader,
)
from reliquary.wire.packet.session import SessionHeader
from reliquary.wire.packet.soap import CompoundHeader, EnvelopeHeader, SoapHeader
from tests.queueing.full_messages import FULL
from tests.wire.packet.vector import PACKET

_full = msgspec.structs.replace(
    construct(FULL),
    envelope=EnvelopeHeader("<Envelope/>"),
    compound=CompoundHeader(b"POST body", 4, 5),
    soap=SoapHeader("<Header/>", "<Body/>"),
    session=SessionHeader(1, 2, 3, 4, 5),
)
_addressed = construct(
    FULL.changed(
        destination_queue="DIRECT=OS:host\\private$\\orders",
        administration_queue=f"PUBLIC={UUID(int=1)}",
        response_queue="DIRECT=HTTP://host/msmq/replies",
    )
)

SEEDS = {
    "published": PACKET,
    "full": _full.encode(),
    "addressed": _addressed.encode(),
    "read": ReadPacket(
        _full,
        Extension(SubqueueHeader("retry", "target"), ExtendedAddressHeader(IPV6, bytes(16), 3), "host\\dead"),
    ).encode(),
}
