"""Sequences that a test puts into the state by hand, for tests of what is shown of them."""

from __future__ import annotations

from typing import Any

from reliquary.base.ranges import NumberRanges
from reliquary.base.time import Instant, seconds
from reliquary.protocols.wsrm.codec.values import Addressing, Dialect, Reference, Soap, Version
from reliquary.protocols.wsrm.destination import state as destination
from reliquary.protocols.wsrm.destination.tables import Inbound, Received
from reliquary.protocols.wsrm.numbering import COUNTERS
from reliquary.protocols.wsrm.settings import EndpointSettings, WsrmSettings
from reliquary.protocols.wsrm.source import state as source
from reliquary.protocols.wsrm.source.tables import Outbound
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.message import Message
from reliquary.store import MemoryDisk, StagedRows

NOON = Instant(1_700_000_000_000_000)
OLD = Dialect(Version.RM10, Soap.SOAP11, Addressing.WSA2004)
ENDPOINT = EndpointSettings(name="in", queue="orders")


def empty() -> State:
    """Return the state of a machine that has seen nothing."""
    return State(StagedRows(MemoryDisk((COUNTERS.name,))), WsrmSettings())


def add_inbound(state: State, number: int, received: Received, **fields: Any) -> destination.Sequence:
    """Put in a sequence that comes in."""
    row = Inbound(
        **{
            "number": number,
            "identifier": f"urn:in:{number}",
            "endpoint": "in",
            "queue": "orders",
            "dialect": OLD,
            "acks_to": Reference("http://client.example/acks"),
            "created": NOON,
            "life": seconds(60),
            **fields,
        }
    )
    made = destination.Sequence(row, ENDPOINT, state.destination.target(row.queue), received)
    made.ranges = NumberRanges(received.ranges)
    made.next = next(made.ranges.gaps(1, received.ranges[-1][1] + 1))[0] if received.ranges else 1
    state.destination.sequences[number] = made
    state.destination.by_identifier[row.identifier] = number
    return made


def add_outbound(state: State, number: int, flights: tuple[int, ...] = (), **fields: Any) -> source.Sequence:
    """Put in a sequence that goes out."""
    row = Outbound(
        **{
            "number": number,
            "dialect": Dialect(),
            "identifier": f"urn:out:{number}",
            "queue": 7,
            "destination": "DIRECT=WSRM://far.example/service",
            "target": Reference("http://far.example/service"),
            **fields,
        }
    )
    made = source.Sequence(row)
    made.flights = {each: source.Flight(each, each, Message()) for each in flights}
    state.source.sequences[number] = made
    return made
