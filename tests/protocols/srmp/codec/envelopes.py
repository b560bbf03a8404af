"""Envelopes to begin with, and a change to one."""

from __future__ import annotations

from tests.protocols.srmp.codec.vector import VECTORS

SMALL = VECTORS["c1_min"].envelope
"""An envelope that has no element `Msmq`."""
PLAIN = VECTORS["c2_min"].envelope
FULL = VECTORS["c1_max"].envelope
"""All elements that a message outside a stream may have."""
FIRST = VECTORS["c3_min"].envelope
"""The first message of a stream."""
FOURTH = VECTORS["c3_max"].envelope
DELIVERY = VECTORS["c4_min"].envelope
COMMITMENT = VECTORS["c5_min"].envelope
STREAM_RECEIPT = VECTORS["c6_min"].envelope
FINAL = VECTORS["c6_final"].envelope


def changed(envelope: str, *changes: tuple[str, str]) -> str:
    """Return the text with each of these texts replaced by another wherever it occurs; it must occur."""
    for old, new in changes:
        assert old in envelope, f"{old} is not in {envelope}"
        envelope = envelope.replace(old, new)
    return envelope


def without(envelope: str, name: str) -> str:
    """Return the envelope without the first element of this name."""
    start = envelope.index(f"<{name}")
    if envelope.startswith(f"<{name}/>", start):
        return envelope[:start] + envelope[start + len(name) + 3 :]
    end = envelope.index(f"</{name}>", start) + len(name) + 3
    return envelope[:start] + envelope[end:]


def element(envelope: str, name: str) -> str:
    """Return the first element of this name, as it stands there."""
    start = envelope.index(f"<{name}")
    end = envelope.index(f"</{name}>", start) + len(name) + 3
    return envelope[start:end]


def doubled(envelope: str, name: str) -> str:
    """Return the envelope with the first element of this name twice."""
    found = f"<{name}/>" if f"<{name}/>" in envelope else element(envelope, name)
    return envelope.replace(found, found + found, 1)
