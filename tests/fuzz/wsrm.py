"""Any bytes are an envelope of WS-RM, or are refused with a fault; nothing else may happen.

By hand, with coverage for a guide:  python tests/fuzz/wsrm.py -max_total_time=60
The arguments are libFuzzer's; a file's name runs that file alone.  What is found stays in the present
folder as crash-…  `test_wsrm.py` throws seeded mutations at this function in every run of the tests.
"""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import Path

from reliquary.base.faults import UsageError
from reliquary.base.time import Instant
from reliquary.protocols.wsrm.codec.decode import decode
from reliquary.protocols.wsrm.codec.encode import encode
from reliquary.protocols.wsrm.codec.faults import WsrmFault
from reliquary.protocols.wsrm.codec.values import Envelope, Fault, Payload, Reference
from reliquary.protocols.wsrm.mapping import envelope_of, message_of
from reliquary.queueing.model.message import NO_OBJECT


def try_envelope(content_type: str, data: bytes) -> bool:
    """Return whether these bytes are an envelope."""
    try:
        envelope = decode(content_type, data)
    except WsrmFault as fault:
        _check_fault(fault)
        return False
    _check_envelope(envelope)
    if isinstance(envelope.body, Payload):
        with suppress(WsrmFault):
            message = message_of(envelope, fallback=NO_OBJECT, response_queue="", now=Instant(1))
            _again(envelope_of(message, envelope.dialect, to=Reference("urn:a"), sequence=envelope.sequence))
    return True


def _check_fault(refused: WsrmFault) -> None:
    """Check that a refusal can be written, and that a reader finds the fault in it."""
    assert refused.status in (400, 500)
    assert refused.why
    assert refused.spec
    read = _again(Envelope(dialect=refused.dialect, body=refused.fault)).body
    assert isinstance(read, Fault)
    assert read.code is refused.fault.code


def _check_envelope(envelope: Envelope) -> None:
    """Check that what was read can be written, and does not change when it is read again."""
    try:
        again = _again(envelope)
    except UsageError:
        return  # a body that this version of WS-RM does not have
    assert _again(again) == again
    if isinstance(envelope.body, Payload):
        assert isinstance(again.body, Payload)
        assert again.body.content == envelope.body.content
        assert again.body.attachments == envelope.body.attachments
    assert again.message_id == envelope.message_id
    assert again.ack_requests == envelope.ack_requests
    assert [each.ranges for each in again.acknowledgements] == [
        each.ranges for each in envelope.acknowledgements
    ]


def _again(envelope: Envelope) -> Envelope:
    encoded = encode(envelope)
    return decode(encoded.content_type, encoded.data)


def try_both(data: bytes) -> None:
    """Try one input of the fuzzer: a content type and a body, or an envelope alone."""
    head, _, body = data.partition(b"\n")
    try_envelope(head.decode("latin-1").strip(), body)
    try_envelope("text/xml", data)


def main() -> None:
    """Fuzz, beginning with envelopes of all kinds."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.fuzz.driver import fuzz
    from tests.protocols.wsrm.codec.mutations import SEEDS

    seeds = {name: f"{kind}\n".encode() + data for name, (kind, data) in SEEDS.items()}
    fuzz("wsrm", seeds, try_both)


if __name__ == "__main__":
    main()
