"""Writes bodies of WS-RM and WS-MakeConnection; children have the order of the schemas."""

from __future__ import annotations

from functools import lru_cache

from reliquary.base.faults import UsageError
from reliquary.base.time import Duration
from reliquary.protocols.wsrm.codec import addressing, names, rm10, rm11
from reliquary.protocols.wsrm.codec.blocks import identifier_element, reference_text
from reliquary.protocols.wsrm.codec.lexical import duration_text
from reliquary.protocols.wsrm.codec.values import (
    CloseSequence,
    CloseSequenceResponse,
    CreateSequence,
    CreateSequenceResponse,
    Dialect,
    Incomplete,
    MakeConnection,
    Offer,
    Reference,
    TerminateSequence,
    TerminateSequenceResponse,
    Version,
)
from reliquary.wire.xml_text import escaped

Protocol = (
    CreateSequence
    | CreateSequenceResponse
    | CloseSequence
    | CloseSequenceResponse
    | TerminateSequence
    | TerminateSequenceResponse
    | MakeConnection
)


def body_action(body: Protocol, version: Version) -> str:
    """Return the action of a body; UsageError if the version does not have this body."""
    if isinstance(body, MakeConnection):
        return rm11.MAKE_CONNECTION
    if version is Version.RM10:
        if isinstance(body, CloseSequence | CloseSequenceResponse | TerminateSequenceResponse):
            raise UsageError(f"WS-RM 1.0 has no {type(body).__name__}")
        namespace = rm10.NAMESPACE
    else:
        namespace = rm11.NAMESPACE
    return f"{namespace}/{type(body).__name__}"


def body_text(body: Protocol, dialect: Dialect) -> str:
    """Return a body as an element."""
    if isinstance(body, MakeConnection):
        return _make_connection(body)
    name = type(body).__name__
    match body:
        case CreateSequence():
            children = _acks_to(body.acks_to, dialect) + _expires(body.expires) + _offer(body.offer, dialect)
        case CreateSequenceResponse():
            accept = (
                "" if body.accept is None else f"<wsrm:Accept>{_acks_to(body.accept, dialect)}</wsrm:Accept>"
            )
            children = (
                identifier_element(body.identifier)
                + _expires(body.expires)
                + _incomplete(body.incomplete, dialect)
                + accept
            )
        case CloseSequence() | TerminateSequence():
            children = identifier_element(body.identifier)
            if body.last and dialect.version is Version.RM11:
                children += f"<wsrm:LastMsgNumber>{body.last}</wsrm:LastMsgNumber>"
        case _:
            children = identifier_element(body.identifier)
    return f"{_start(name, dialect)}{children}</wsrm:{name}>"


@lru_cache(maxsize=64)
def _start(name: str, dialect: Dialect) -> str:
    return (
        f'<wsrm:{name} xmlns:wsrm="{names.RM[dialect.version]}"'
        f' xmlns:wsa="{addressing.NAMESPACES[dialect.addressing]}">'
    )


def _acks_to(reference: Reference, dialect: Dialect) -> str:
    return f"<wsrm:AcksTo>{reference_text(reference, dialect.addressing)}</wsrm:AcksTo>"


def _expires(expires: Duration | None) -> str:
    return "" if expires is None else f"<wsrm:Expires>{duration_text(expires)}</wsrm:Expires>"


def _incomplete(incomplete: Incomplete | None, dialect: Dialect) -> str:
    if incomplete is None or dialect.version is Version.RM10:
        return ""
    return f"<wsrm:IncompleteSequenceBehavior>{incomplete.value}</wsrm:IncompleteSequenceBehavior>"


def _offer(offer: Offer | None, dialect: Dialect) -> str:
    if offer is None:
        return ""
    endpoint = ""
    if dialect.version is Version.RM11:
        reference = offer.endpoint or Reference(addressing.ANONYMOUS[dialect.addressing])
        endpoint = f"<wsrm:Endpoint>{reference_text(reference, dialect.addressing)}</wsrm:Endpoint>"
    return (
        f"<wsrm:Offer>{identifier_element(offer.identifier)}{endpoint}{_expires(offer.expires)}"
        f"{_incomplete(offer.incomplete, dialect)}</wsrm:Offer>"
    )


def _make_connection(body: MakeConnection) -> str:
    text = f'<wsmc:MakeConnection xmlns:wsmc="{names.MAKE_CONNECTION}">'
    if body.address:
        text += f"<wsmc:Address>{escaped(body.address)}</wsmc:Address>"
    if body.identifier:
        text += f'<wsrm:Identifier xmlns:wsrm="{rm11.NAMESPACE}">{escaped(body.identifier)}</wsrm:Identifier>'
    return f"{text}</wsmc:MakeConnection>"
