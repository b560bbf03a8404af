"""Any bytes are an SRMP message, or are refused with the name of what is wrong; nothing else may happen.

By hand, with coverage for a guide:  python tests/fuzz/srmp.py -max_total_time=60
The arguments are libFuzzer's; a file's name runs that file alone.  What is found stays in the present
folder as crash-…  `test_srmp.py` throws seeded mutations at this function in every run of the tests.
"""

from __future__ import annotations

import sys
from pathlib import Path

import msgspec

from reliquary.protocols.srmp.codec.decode import decode, decode_apdu, decode_envelope, parsed_blocks
from reliquary.protocols.srmp.codec.encode import write
from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.header import read_header
from reliquary.protocols.srmp.codec.kinds import kind_of
from reliquary.protocols.srmp.codec.messages import message_of
from reliquary.protocols.srmp.codec.values import Arrived

LARGEST = 64 * 1024


def try_post(data: bytes) -> bool:
    """Return whether these bytes, head and body of a POST, are a message."""
    try:
        arrived = decode_apdu(data, largest=LARGEST)
    except SrmpFault as fault:
        _check(fault)
        return False
    _check_message(arrived)
    return True


def try_envelope(data: bytes) -> bool:
    """Return whether these bytes are an envelope alone."""
    try:
        arrived = decode("text/xml", data, largest=LARGEST)
    except SrmpFault as fault:
        _check(fault)
        return False
    _check_message(arrived)
    return True


def _check(fault: SrmpFault) -> None:
    assert fault.status == 400
    assert fault.element
    assert fault.why
    assert fault.spec


def _check_message(arrived: Arrived) -> None:
    """Check that what was read has a meaning, that a parser reads it too, and that it survives a rewrite."""
    assert arrived.body == b"" or arrived.has_body
    assert arrived.extension == b"" or arrived.has_extension
    kind_of(arrived.envelope)
    assert read_header(parsed_blocks(arrived.text)) == arrived.envelope
    message = message_of(arrived, now=1_700_000_000)
    assert message.soap_envelope == arrived.text
    unsigned = msgspec.structs.replace(arrived.envelope, signature="")
    assert decode_envelope(write(unsigned, capital_stream=True)) == unsigned


def try_both(data: bytes) -> None:
    """Try the bytes as a POST and as an envelope; the fuzzer calls this."""
    try_post(data)
    try_envelope(data)


def main() -> None:
    """Fuzz, beginning with messages of all kinds."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.fuzz.driver import fuzz
    from tests.protocols.srmp.codec.vector import VECTORS

    seeds = {name: vector.data for name, vector in VECTORS.items()}
    seeds |= {f"{name}-envelope": vector.envelope.encode() for name, vector in VECTORS.items()}
    fuzz("srmp", seeds, try_both)


if __name__ == "__main__":
    main()
