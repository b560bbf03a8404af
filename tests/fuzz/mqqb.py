"""Any bytes of a session are packets, or end it with a fault that has an offset; nothing else may happen.

By hand, with coverage for a guide:  python tests/fuzz/mqqb.py -max_total_time=60
The arguments are libFuzzer's; a file's name runs that file alone.  What is found stays in the present
folder as crash-…  `test_mqqb.py` throws seeded mutations at these functions in every run of the tests.
"""

from __future__ import annotations

import sys
from pathlib import Path

from reliquary.protocols.mqqb.codec.acks import is_for_order_queue, read_ack
from reliquary.protocols.mqqb.codec.packets import decode_packet
from reliquary.queueing.packets.messages import read
from reliquary.wire.packet.fields import PacketFault
from reliquary.wire.packet.framing import Framer
from reliquary.wire.packet.ping import decode_ping
from reliquary.wire.packet.user_message import UserMessage


def try_stream(data: bytes) -> int:
    """Read a stream at once and in two parts; return how many of its packets are good ones."""
    whole = Framer()
    packets = whole.feed(data)
    assert sum(map(len, packets)) + whole.buffered <= len(data)
    cut = data[0] * len(data) // 256 if data else 0
    parted = Framer()
    again = parted.feed(data[:cut]) + parted.feed(data[cut:])
    assert again == packets
    assert (parted.fault is None) is (whole.fault is None)
    if whole.fault is None:
        assert sum(map(len, packets)) + whole.buffered == len(data)
    return sum(map(try_packet, packets))


def try_packet(data: bytes) -> bool:
    """Return whether these bytes are a packet; if so it is written to itself, and a message can be read."""
    try:
        packet = decode_packet(data)
    except PacketFault as fault:
        _check_offset(fault, data)
        return False
    assert decode_packet(packet.encode()) == packet
    if isinstance(packet, UserMessage):
        if is_for_order_queue(packet):
            read_ack(packet)
        read(packet)
    return True


def _check_offset(fault: PacketFault, data: bytes) -> None:
    assert 0 <= fault.offset <= len(data)


def try_ping(data: bytes) -> bool:
    """Return whether a datagram is a ping; if so it is written to itself."""
    ping = decode_ping(data)
    if ping is None:
        return False
    assert decode_ping(ping.encode()) == ping
    return True


def try_all(data: bytes) -> None:
    """Try the bytes as a stream, as one packet and as a datagram; the fuzzer calls this."""
    try_stream(data)
    try_packet(data)
    try_ping(data)


def main() -> None:
    """Fuzz, beginning with the published sample and the composed packets."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.fuzz.driver import fuzz
    from tests.protocols.mqqb.codec.frames import COMPOSED, SAMPLE

    seeds = {name.replace(" ", "-"): data for name, data in {**SAMPLE, **COMPOSED}.items()}
    fuzz("mqqb", seeds | {"stream": b"".join(COMPOSED.values())}, try_all)


if __name__ == "__main__":
    main()
