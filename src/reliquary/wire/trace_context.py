"""Reads and writes the trace of a message in the format of W3C Trace Context.

    traceparent   00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01
                     trace                            span that sent it  flags
    tracestate    vendor=value,other=value            of the tracing systems, never interpreted here

A message has both as one text: the traceparent, and behind a blank the tracestate, if there is one.  A
context that is malformed is dropped, not refused, as the recommendation wants: a trace is no reason to lose a
message.
"""

from __future__ import annotations

import re
from typing import Final

TRACEPARENT: Final = "traceparent"
TRACESTATE: Final = "tracestate"
STATE_LIMIT: Final = 512
"""The largest number of characters of a tracestate; a longer one is dropped."""

PARENT_PATTERN: Final = r"(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}"
_PARENT: Final = re.compile(PARENT_PATTERN)
STATE_PATTERN: Final = r"[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?"
_STATE: Final = re.compile(STATE_PATTERN)
_PARENT_LENGTH: Final = 55


def joined(parent: str, state: str = "") -> str:
    """Return the stored form of a context; empty for a malformed traceparent.

    >>> joined("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "a=1")
    '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 a=1'
    """
    parent, state = parent.strip(), state.strip()
    if not _PARENT.match(parent):
        return ""
    if len(parent) > _PARENT_LENGTH:
        if parent.startswith("00") or parent[_PARENT_LENGTH] != "-":
            return ""
        parent = parent[:_PARENT_LENGTH]  # a later version: only the first four fields are known
    if not parent.startswith("00"):
        parent = f"00{parent[2:]}"
    if len(state) > STATE_LIMIT or not _STATE.fullmatch(state):
        return parent
    return f"{parent} {state}"


def split(context: str) -> tuple[str, str]:
    """Return traceparent and tracestate of a context.

    >>> split("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
    ('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', '')
    """
    parent, _, state = context.partition(" ")
    return parent, state


def read(text: str) -> str:
    """Return the stored form of a context that a peer wrote; empty if it is malformed."""
    return joined(*split(text))
