"""Tests which destinations MQQB has, and which messages it can bring there."""

from __future__ import annotations

import pytest

from reliquary.protocols.mqqb.carrier import claims
from reliquary.queueing.model.message import MessagePrivacy
from reliquary.queueing.model.names.formats import parse_single
from tests.protocols.mqqb.mqqb_harness import ELSEWHERE, MqqbBench

GUID = "11111111-2222-3333-4444-555555555555"


@pytest.mark.parametrize(
    ("name", "carried"),
    [
        ("DIRECT=OS:host\\private$\\q", True),
        ("DIRECT=TCP:10.0.0.7\\q", True),
        ("DIRECT=TCP:fe80::1\\q", True),
        (f"PRIVATE={GUID}\\0000000a", True),
        (f"PUBLIC={GUID}", True),
        ("DIRECT=SPX:0123:45\\q", False),
        ("DIRECT=http://host/msmq/q", False),
        ("MULTICAST=234.1.1.1:8001", False),
    ],
)
def test_names_of_hosts_are_its_own(name: str, carried: bool) -> None:
    assert claims(parse_single(name)) is carried


@pytest.mark.spec("QB-091", "QB-171", "QB-175", "QB-287")
def test_what_cannot_be_carried_is_refused_with_a_sentence() -> None:
    bench = MqqbBench()
    for name, attributes, sentence in (
        (f"PRIVATE={GUID}\\0000000a", {}, "name the host instead"),
        (f"PUBLIC={GUID}", {}, "name the host instead"),
        (f"{ELSEWHERE};retry", {}, "messages are sent to queues"),
        ("DIRECT=OS:h\\private$\\q;JOURNAL", {}, "messages are sent to queues"),
        ("DIRECT=OS:h\\SYSTEM$;DEADXACT", {}, "messages are sent to queues"),
        ("DIRECT=OS:h\\private$\\order_queue$", {}, "acknowledgements of queue managers only"),
        (ELSEWHERE, {"privacy": MessagePrivacy.BASE}, "no body is encrypted"),
    ):
        assert sentence in bench.send(name, b"a", **attributes).why  # type: ignore[arg-type]
    assert bench.send(ELSEWHERE, b"a").status == 0
