"""Any bytes are PDUs of a client or of a server, or end the connection; nothing else may happen.

By hand, with coverage for a guide:  python tests/fuzz/rpc.py -max_total_time=60
The arguments are libFuzzer's; a file's name runs that file alone.  What is found stays in the present
folder as crash-…  `test_rpc.py` throws seeded mutations at these functions in every run of the tests.
"""

from __future__ import annotations

import sys
from pathlib import Path

from reliquary.protocols.rpc.associations import Associations
from reliquary.protocols.rpc.client import ClientConnection
from reliquary.protocols.rpc.events import Called, Closed
from reliquary.protocols.rpc.limits import Limits
from reliquary.protocols.rpc.server import ServerConnection
from reliquary.wire.rpc.binds import BindAck, ContextResult, Result, encode_ack
from reliquary.wire.rpc.header import HEADER_SIZE, Flag, PduType, decode_header
from reliquary.wire.rpc.syntaxes import MGMT, NDR20_SYNTAX, QM2QM

ACK = encode_ack(
    PduType.BIND_ACK,
    0,
    Flag.MULTIPLEX,
    BindAck(5840, 5840, 7, "2105", (ContextResult(Result.ACCEPTED, 0, NDR20_SYNTAX),)),
)
SMALL = Limits(contexts=3, calls=4, stub=4000, logins=2)


def try_server(data: bytes) -> bool:
    """Let a server read bytes, at once and one half after the other; say whether it was called."""
    groups = Associations()
    whole, halves = (ServerConnection((QM2QM, MGMT), groups, SMALL, _no_user, "2105") for _ in range(2))
    middle = len(data) // 2
    events = whole.receive(data)
    again = halves.receive(data[:middle]) + halves.receive(data[middle:])
    assert [type(event) for event in events] == [type(event) for event in again]
    calls = [event for event in events if isinstance(event, Called)]
    for call in calls:
        whole.respond(call.call, [call.stub])
    assert whole.outstanding == 0
    _check_output(b"".join(whole.output()))
    ends = [at for at, event in enumerate(events) if isinstance(event, Closed)]
    assert ends in ([], [len(events) - 1])
    assert whole.closed is bool(ends)
    whole.lost()
    halves.lost()
    assert len(groups) == 0
    return bool(calls)


def try_client(data: bytes) -> bool:
    """Let two clients read bytes, one that binds and one that has called; say whether the first goes on."""
    binding, calling = ClientConnection(QM2QM), ClientConnection(QM2QM)
    for client in (binding, calling):
        client.begin()
    calling.receive(ACK)
    calling.call(1, 0, [b"stub"])
    for client in (binding, calling):
        events = client.receive(data)
        _check_output(b"".join(client.output()))
        assert client.closed is any(isinstance(event, Closed) for event in events)
    return not binding.closed


def _no_user(_auth_type: int) -> None:
    """Return no mechanism: every type of authentication is unknown."""


def _check_output(data: bytes) -> None:
    """Check that what is sent are PDUs of the agreed length."""
    at = 0
    while at < len(data):
        header = decode_header(data, at)
        assert HEADER_SIZE <= header.length <= SMALL.fragment
        at += header.length
    assert at == len(data)


def try_both(data: bytes) -> None:
    """Try the bytes at a server and at a client; the fuzzer calls this."""
    try_server(data)
    try_client(data)


def main() -> None:
    """Fuzz, beginning with conversations that are complete."""
    sys.path.insert(0, str(Path(__file__).parents[2]))
    from tests.fuzz.driver import fuzz
    from tests.fuzz.test_rpc import SEEDS

    fuzz("rpc", SEEDS, try_both)


if __name__ == "__main__":
    main()
