"""Any bytes are an HTTPR body, or are refused with a number; nothing else may happen.

By hand, with coverage for a guide:  python tests/fuzz/httpr.py -max_total_time=60
The arguments are libFuzzer's; a file's name runs that file alone.  What is found stays in the present
folder as crash-…  `test_httpr.py` throws seeded mutations at this function in every run of the tests.
"""

from __future__ import annotations

import sys
from pathlib import Path

from msgspec.structs import replace

from reliquary.protocols.httpr.codec.encode import batch_bytes
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.headers import encode_request, encode_response
from reliquary.protocols.httpr.codec.reader import (
    BatchEnded,
    BodyIncomplete,
    BodyPart,
    HeaderRead,
    RequestReader,
    ResponseReader,
)
from reliquary.protocols.httpr.codec.values import (
    BatchLimits,
    Capabilities,
    Carried,
    Disposition,
    RequestHeader,
)

LIMITS = BatchLimits(64 * 1024, 20)
REFUSALS = {519, 520, 521, 522, 530}


def try_request(data: bytes) -> bool:
    """Return whether these bytes are a request."""
    return _try(data, request=True)


def try_response(data: bytes) -> bool:
    """Return whether these bytes are a response."""
    return _try(data, request=False)


def _try(data: bytes, *, request: bool) -> bool:
    whole = _read([data], request=request)
    middle = len(data) // 2
    assert _read([data[:middle], data[middle:]], request=request) == whole
    if isinstance(whole, str):
        return False
    assert _read([_written(whole)], request=request) == whole
    return True


def _read(parts: list[bytes], *, request: bool) -> list[BodyPart] | str:
    """Return what is read, as we would have written it; or why it is refused."""
    using = RequestReader(lambda _: LIMITS) if request else ResponseReader(LIMITS)
    try:
        events = [event for part in parts for event in using.feed(part)]
        using.end()
    except HttprFault as fault:
        _check(fault)
        return f"{fault.number}"
    except BodyIncomplete:
        return "cut"
    return [_usual(event) for event in events]


def _check(fault: HttprFault) -> None:
    assert fault.number in REFUSALS
    assert fault.why
    assert fault.spec


def _usual(event: BodyPart) -> BodyPart:
    """Return a header without what we never write: empty capabilities, fields without a value."""
    if not isinstance(event, HeaderRead):
        return event
    header = event.header
    nothing = Capabilities() if isinstance(header, RequestHeader) else ()
    return HeaderRead(
        replace(
            header,
            capabilities=None if header.capabilities == nothing else header.capabilities,
            product=tuple(field for field in header.product if field[1]),
        )
    )


def _written(events: list[BodyPart]) -> bytes:
    """Return these events written by us; an aborted batch becomes a complete one."""
    first = events[0]
    assert isinstance(first, HeaderRead)
    header = first.header
    block = encode_request(header) if isinstance(header, RequestHeader) else encode_response(header)
    if not isinstance(events[-1], BatchEnded):
        return block
    messages = [event for event in events if isinstance(event, Carried)]
    assert len(messages) == len(events) - 2
    batch = batch_bytes([(each.header, each.body) for each in messages])
    if events[-1].disposition is Disposition.ABORT:
        batch = batch.removesuffix(b"last\r\n") + b"abort\r\n"
    return block + batch


def try_both(data: bytes) -> None:
    """Try the bytes as a request and as a response; the fuzzer calls this."""
    try_request(data)
    try_response(data)


def main() -> None:
    """Fuzz, beginning with the bodies H1 to H17."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.fuzz.driver import fuzz
    from tests.protocols.httpr.codec.vector import VECTORS

    fuzz("httpr", {name: vector.data for name, vector in VECTORS.items()}, try_both)


if __name__ == "__main__":
    main()
