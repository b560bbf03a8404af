"""Encodes SessionHeader, [MS-MQMQ] 2.2.20.4: an acknowledgement of a session that is sent with a message.

    0     2                 4                 8      10                 12       14         16
    | ack | recoverable ack | recoverable set | sent | recoverable sent | window | reserved |

PacketSize does not count it.
"""

from __future__ import annotations

from typing import Final

import msgspec

from reliquary.base.faults import UsageError
from reliquary.wire.packet import layouts
from reliquary.wire.packet.fields import Reader

SPEC: Final = layouts.SESSION.spec
_LAYOUT: Final = layouts.SESSION.struct
SIZE: Final = _LAYOUT.size


class SessionHeader(msgspec.Struct, frozen=True, gc=False):
    """The counts of packets that were received and sent in a session."""

    ack: int = 0
    """The number of user packets that were received: AckSequenceNumber."""
    recoverable_ack: int = 0
    """The lowest recoverable packet that is acknowledged: RecoverableMsgAckSeqNumber."""
    recoverable_set: int = 0
    """RecoverableMsgAckFlags: bit k stands for the number `recoverable_ack` + k."""
    sent: int = 0
    """The number of user packets that were sent: UserMsgSequenceNumber."""
    recoverable_sent: int = 0
    """The number of recoverable packets that were sent: RecoverableMsgSeqNumber."""
    window: int = 64

    def encode(self) -> bytes:
        """Return the header as bytes."""
        if not self.window:
            raise UsageError("a window of 0 messages would let nothing through")
        return _LAYOUT.pack(
            self.ack,
            self.recoverable_ack,
            self.recoverable_set,
            self.sent,
            self.recoverable_sent,
            self.window,
            0,
        )

    @classmethod
    def decode(cls, reader: Reader) -> SessionHeader:
        """Return the header at the current offset."""
        reader.begin(SPEC)
        ack, recoverable_ack, recoverable_set, sent, recoverable_sent, window, _ = reader.unpack(
            _LAYOUT, "a session header"
        )
        if not window:
            raise reader.fault("the window is 0", reader.start + 12)
        return cls(ack, recoverable_ack, recoverable_set, sent, recoverable_sent, window)
