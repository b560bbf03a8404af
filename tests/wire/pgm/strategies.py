"""Hypothesis strategies for PGM packets."""

from __future__ import annotations

from hypothesis import strategies as st

from reliquary.wire.pgm.options import Fragment, Reset
from reliquary.wire.pgm.packets import Data, Nak, Packet, PgmPacketType, Spm, Tsi
from reliquary.wire.pgm.serial import HALF, MASK

numbers = st.integers(0, MASK)
ports = st.integers(0, 0xFFFF)
addresses = st.ip_addresses(v=4).map(str)
tsis = st.builds(Tsi, st.binary(min_size=6, max_size=6), ports)
resets = st.builds(Reset, st.booleans(), st.integers(0, 63))


@st.composite
def spms(draw: st.DrawFn) -> Spm:
    trail = draw(numbers)
    lead = (trail - 1 + draw(st.integers(0, 1000))) & MASK
    joins = draw(st.none() | numbers)
    return Spm(
        draw(tsis), draw(ports), draw(numbers), trail, lead, draw(addresses), joins, draw(st.booleans()),
        draw(st.none() | resets),
    )  # fmt: skip


@st.composite
def data(draw: st.DrawFn) -> Data:
    number, payload = draw(numbers), draw(st.binary(max_size=200))
    trail = (number - draw(st.integers(0, HALF - 1))) & MASK
    fragment = None
    if draw(st.booleans()):
        offset = draw(st.integers(0, 60_000))
        back = draw(st.integers(1, 50)) if offset else 0
        fragment = Fragment((number - back) & MASK, offset, offset + len(payload) + draw(st.integers(0, 9)))
    flags = [draw(st.booleans()) for _ in range(3)]
    joins = draw(st.none() | numbers)
    return Data(
        draw(tsis), draw(ports), number, trail, payload, flags[0], fragment, joins, flags[1], flags[2]
    )


@st.composite
def naks(draw: st.DrawFn) -> Nak:
    steps = draw(st.lists(st.integers(1, 1000), max_size=62))
    listed = [draw(numbers)]
    for step in steps:
        listed.append((listed[-1] + step) & MASK)
    kind = draw(st.sampled_from([PgmPacketType.NAK, PgmPacketType.NNAK, PgmPacketType.NCF]))
    return Nak(kind, draw(tsis), draw(ports), tuple(listed), draw(addresses), draw(addresses))


packets: st.SearchStrategy[Packet] = st.one_of(spms(), data(), naks())
