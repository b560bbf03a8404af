"""Reads and writes a header block of Reliquary for properties without a place in WS-Addressing and WS-RM.

    <rq:Properties xmlns:rq="urn:reliquary:wsrm" priority="5" label="new order" .../>

No receiver has to understand it, and it is written only if a property differs from its default.
"""

from __future__ import annotations

from typing import Any, Final

from reliquary.protocols.wsrm.codec import names
from reliquary.protocols.wsrm.codec.lexical import boolean, number
from reliquary.protocols.wsrm.codec.values import Properties
from reliquary.wire.xml import Element
from reliquary.wire.xml_text import quoted

PROPERTIES: Final = f"{{{names.OURS}}}Properties"
LARGEST: Final = 2**32 - 1
"""The largest number of a property."""

_NUMBERS: Final = {
    "priority": "priority",
    "bodyType": "body_type",
    "applicationTag": "application_tag",
    "sentTime": "sent_time",
    "timeToBeReceived": "time_to_be_received",
    "class": "message_class",
    "hops": "hops",
}
_TEXTS: Final = {
    "label": "label",
    "correlation": "correlation",
    "responseQueue": "response_queue",
    "administrationQueue": "administration_queue",
    "trace": "trace_context",
}
_FLAGS: Final = {"express": "express", "deadLetter": "dead_letter"}
_DEFAULTS: Final = Properties()


def read_properties(element: Element) -> Properties:
    """Return the properties of a block; ValueError for an invalid value."""
    chosen: dict[str, Any] = {}
    for name, value in element.items():
        if name in _NUMBERS:
            chosen[_NUMBERS[name]] = number(value)
            if chosen[_NUMBERS[name]] > LARGEST:
                raise ValueError(f"{name} is at most {LARGEST}, not {chosen[_NUMBERS[name]]}")
        elif name in _TEXTS:
            chosen[_TEXTS[name]] = value
        elif name in _FLAGS:
            chosen[_FLAGS[name]] = boolean(value)
        elif name == "acknowledgements":
            chosen["acknowledgements"] = tuple(value.split())
    return Properties(**chosen)


def properties_block(properties: Properties) -> str:
    """Return the block of these properties; empty if all have their defaults."""
    if properties == _DEFAULTS:
        return ""
    text = ""
    for name, field in (_NUMBERS | _TEXTS).items():
        value = getattr(properties, field)
        if value != getattr(_DEFAULTS, field):
            text += f" {name}={quoted(str(value))}"
    for name, field in _FLAGS.items():
        if getattr(properties, field):
            text += f' {name}="true"'
    if properties.acknowledgements:
        text += f" acknowledgements={quoted(' '.join(properties.acknowledgements))}"
    return f'<rq:Properties xmlns:rq="{names.OURS}"{text}/>'
