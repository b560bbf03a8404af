"""Finds the queue name for the reply to a message, and the RelatesTo of the reply.

    ReplyTo of the message    the sequence has an offer         it has none
    anonymous, or not said    into the offered sequence         no reply
    fetched by polling        into the offered sequence         no reply
    an http or https URL      into the offered sequence         to that URL
    none, anything else       no reply                          no reply

A client that cannot be reached waits for the reply on the response to its request.
"""

from __future__ import annotations

from reliquary.protocols.wsrm.codec.addressing import ANONYMOUS, is_anonymous, is_none, is_polled
from reliquary.protocols.wsrm.codec.values import Addressing, Envelope
from reliquary.protocols.wsrm.destination.tables import Inbound
from reliquary.protocols.wsrm.mapping import message_id_of as derived
from reliquary.protocols.wsrm.schemes import name_of_url, offered_name
from reliquary.protocols.wsrm.state import State
from reliquary.queueing.model.message import ObjectId


def message_id(state: State, identifier: ObjectId) -> str | None:
    """Return the MessageID of a request as its client wrote it; None if it was not kept."""
    return state.destination.requests.get(identifier)


def message_id_of(state: State, identifier: ObjectId) -> str:
    """Return the MessageID for RelatesTo of a reply: the stored text, or one made from the identifier."""
    return state.destination.requests.get(identifier) or derived(identifier)


def reply_name(row: Inbound, envelope: Envelope) -> str:
    """Return the format name of the response queue of a message; empty if no reply is possible."""
    address = _reply_address(envelope)
    if not address or is_none(address):
        return ""
    if is_anonymous(address) or is_polled(address):
        return offered_name(row.offer, row.reply_url) if row.offer else ""
    name = name_of_url(address)
    return offered_name(row.offer, row.reply_url or address) if name and row.offer else name


def waits_for_reply(row: Inbound, envelope: Envelope) -> int:
    """Return the offered sequence whose reply the response waits for; 0 if it does not wait."""
    if not row.offered or row.reply_url or not envelope.message_id:
        return 0
    return row.offered if is_anonymous(_reply_address(envelope)) else 0


def _reply_address(envelope: Envelope) -> str:
    if envelope.reply_to is not None:
        return envelope.reply_to.address
    version = envelope.dialect.addressing  # only in 1.0 does a missing ReplyTo mean anonymous
    return ANONYMOUS[version] if version is Addressing.WSA10 else ""
