"""Any bytes are a packet, or are refused with an offset; nothing else may happen.

By hand, with coverage for a guide:  python tests/fuzz/packet.py -max_total_time=60
The arguments are libFuzzer's; a file's name runs that file alone.  What is found stays in the present
folder as crash-…  `test_packet.py` throws seeded mutations at this function in every run of the tests.
"""

from __future__ import annotations

import sys
from pathlib import Path

from reliquary.queueing.packets.messages import read
from reliquary.wire.packet.fields import PacketFault
from reliquary.wire.packet.remote_read import decode_read_packet
from reliquary.wire.packet.user_message import decode_user_message


def try_packet(data: bytes) -> bool:
    """Return whether these bytes are a packet; if so it is written to an equal packet, and is a message."""
    try:
        packet = decode_user_message(data)
    except PacketFault as fault:
        _check_offset(fault, data)
        return False
    assert decode_user_message(packet.encode()) == packet
    read(packet)
    return True


def try_read_packet(data: bytes) -> bool:
    """Return whether these bytes are the packet of an answer to a remote read."""
    try:
        packet = decode_read_packet(data)
    except PacketFault as fault:
        _check_offset(fault, data)
        return False
    assert decode_read_packet(packet.encode()) == packet
    return True


def _check_offset(fault: PacketFault, data: bytes) -> None:
    assert 0 <= fault.offset <= len(data)


def try_both(data: bytes) -> None:
    """Try the bytes as a packet and as a read packet; the fuzzer calls this."""
    try_packet(data)
    try_read_packet(data)


def main() -> None:
    """Fuzz, beginning with packets that have all headers."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.fuzz.driver import fuzz
    from tests.fuzz.seeds import SEEDS

    fuzz("packet", SEEDS, try_both)


if __name__ == "__main__":
    main()
