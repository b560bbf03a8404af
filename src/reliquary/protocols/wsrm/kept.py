"""Keeps the parts of a message's header for which no attribute has a place.

It is one line of `Message.carrier_header`, a field of HTTPR that no application can choose:

    app-reliquary-wsrm:{"to":"http://host/wsrm/orders","message_id":"any text"}

So a message that HTTPR forwards carries it, and one that came by HTTPR may still have it.
"""

from __future__ import annotations

import json
from typing import Final

import msgspec

from reliquary.protocols.wsrm.codec.values import Reference
from reliquary.protocols.wsrm.message_ids import message_id_of
from reliquary.queueing.model.message import Message

FIELD_NAME: Final = "app-reliquary-wsrm"
FIELD: Final = f"{FIELD_NAME}:"
"""The beginning of the line."""


class Kept(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """Parts of an envelope that no attribute of a queue message can carry."""

    to: str = ""
    message_id: str = ""
    """The MessageID, if it cannot be derived from the identifier."""
    action: str = ""
    """The action, if the label does not contain all of it."""
    reply_to: Reference | None = None


_NOTHING: Final = Kept()
_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder(Kept).decode


def carrier_header_of(kept: Kept) -> str:
    """Return `Message.carrier_header` for a message that came by WS-RM."""
    if kept == _NOTHING:
        return ""
    text = _encode(kept).decode()
    if not text.isascii():
        text = json.dumps(json.loads(text), separators=(",", ":"))  # fields of HTTPR are Latin-1
    return f"{FIELD}{text}\n"


def kept_of(message: Message) -> Kept:
    """Return the kept header parts of a message; empty if it never came by WS-RM."""
    header = message.carrier_header
    at = 0 if header.startswith(FIELD) else header.find(f"\n{FIELD}") + 1
    if not header.startswith(FIELD, at):
        return _NOTHING
    line = header[at + len(FIELD) :].partition("\n")[0].strip("\r")
    try:
        return _decode(line)
    except (msgspec.DecodeError, ValueError):  # a peer of HTTPR may have written it
        return _NOTHING


def shown_header(message: Message) -> dict[str, str] | None:
    """Return the header of a message for a reader; None if it did not come by WS-RM."""
    kept = kept_of(message)
    if not kept.to:
        return None
    shown = {
        "to": kept.to,
        "action": kept.action or message.label,
        "message_id": kept.message_id or message_id_of(message.identifier),
        "reply_to": "" if kept.reply_to is None else kept.reply_to.address,
    }
    return {name: text for name, text in shown.items() if text}
