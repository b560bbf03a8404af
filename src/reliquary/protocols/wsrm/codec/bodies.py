"""Reads the bodies of WS-RM and WS-MakeConnection; `fault_reader` reads faults.

Elements that only WS-RM 1.1 has are accepted in the namespace of 1.0 too, because gSOAP writes them there.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from reliquary.base.time import Duration
from reliquary.protocols.wsrm.codec import names
from reliquary.protocols.wsrm.codec.faults import FaultCode
from reliquary.protocols.wsrm.codec.lexical import duration, trimmed
from reliquary.protocols.wsrm.codec.reading import (
    Document,
    Refusal,
    read_address,
    read_identifier,
    read_number,
    read_reference,
    split_tag,
)
from reliquary.protocols.wsrm.codec.values import (
    Body,
    CloseSequence,
    CloseSequenceResponse,
    CreateSequence,
    CreateSequenceResponse,
    Incomplete,
    MakeConnection,
    Offer,
    Reference,
    TerminateSequence,
    TerminateSequenceResponse,
    Version,
)
from reliquary.wire.xml import Element

_INCOMPLETE: Final = {each.value: each for each in Incomplete}


def read_body(document: Document, element: Element) -> Body | None:
    """Return the value of the first element in a Body, if it is one of WS-RM; None for other elements."""
    reader = _READERS.get(element.tag)
    if reader is None:
        return None
    version = names.RM_VERSIONS.get(split_tag(element.tag)[0])
    if version is not None:
        document.version = version
    return reader(document, element)


def _children(element: Element) -> dict[str, Element]:
    """Return the first child of each name in a namespace of WS-RM."""
    children: dict[str, Element] = {}
    for child in element:
        namespace, name = split_tag(child.tag)
        if namespace in names.RM_VERSIONS:
            children.setdefault(name, child)
    return children


def _expires(children: dict[str, Element]) -> Duration | None:
    element = children.get("Expires")
    if element is None:
        return None
    try:
        return duration(element.text or "") or None
    except ValueError as why:
        raise Refusal(FaultCode.CREATE_SEQUENCE_REFUSED, f"Expires: {why}") from None


def _incomplete(children: dict[str, Element]) -> Incomplete | None:
    element = children.get("IncompleteSequenceBehavior")
    if element is None:
        return None
    behavior = _INCOMPLETE.get(trimmed(element.text))
    if behavior is None:
        reason = f"there is no IncompleteSequenceBehavior {trimmed(element.text)[:40]!r}"
        raise Refusal(FaultCode.CREATE_SEQUENCE_REFUSED, reason)
    return behavior


def _acks_to(document: Document, children: dict[str, Element]) -> Reference:
    element = children.get("AcksTo")
    reference = None if element is None else read_reference(document, element)
    if reference is None or not reference.address:
        raise Refusal(FaultCode.CREATE_SEQUENCE_REFUSED, "there is no address that acknowledgements go to")
    return reference


def _create(document: Document, element: Element) -> CreateSequence:
    children = _children(element)
    offer = children.get("Offer")
    return CreateSequence(
        acks_to=_acks_to(document, children),
        expires=_expires(children),
        offer=None if offer is None else _offer(document, offer),
    )


def _offer(document: Document, element: Element) -> Offer:
    children = _children(element)
    endpoint = children.get("Endpoint")
    reference = None if endpoint is None else read_reference(document, endpoint)
    if reference is not None and not reference.address:
        reference = None  # gSOAP writes an empty Address in WS-RM 1.0
    return Offer(
        identifier=read_identifier(document, element),
        endpoint=reference,
        expires=_expires(children),
        incomplete=_incomplete(children),
    )


def _created(document: Document, element: Element) -> CreateSequenceResponse:
    children = _children(element)
    accept = children.get("Accept")
    return CreateSequenceResponse(
        identifier=read_identifier(document, element),
        expires=_expires(children),
        incomplete=_incomplete(children),
        accept=None if accept is None else _acks_to(document, _children(accept)),
    )


def _last(element: Element) -> int:
    last = _children(element).get("LastMsgNumber")
    return 0 if last is None else read_number(last)


def _close(document: Document, element: Element) -> CloseSequence:
    return CloseSequence(read_identifier(document, element), _last(element))


def _closed(document: Document, element: Element) -> CloseSequenceResponse:
    return CloseSequenceResponse(read_identifier(document, element))


def _terminate(document: Document, element: Element) -> TerminateSequence:
    # gSOAP answers TerminateSequence of WS-RM 1.0 with one that names nothing, where nothing was offered
    required = document.version is not Version.RM10
    return TerminateSequence(read_identifier(document, element, required=required), _last(element))


def _terminated(document: Document, element: Element) -> TerminateSequenceResponse:
    return TerminateSequenceResponse(read_identifier(document, element))


def _make_connection(document: Document, element: Element) -> MakeConnection:
    address, identifier, unsupported = "", "", ""
    for child in element:
        namespace, name = split_tag(child.tag)
        if namespace == names.MAKE_CONNECTION and name == "Address":
            address = read_address(child)
        elif namespace in names.RM_VERSIONS and name == "Identifier":
            identifier = trimmed(child.text)
        elif not unsupported:
            unsupported = child.tag
    return MakeConnection(address, identifier, unsupported)


_Reader = Callable[[Document, Element], Body]
_RM_READERS: Final[dict[str, _Reader]] = {
    "CreateSequence": _create,
    "CreateSequenceResponse": _created,
    "CloseSequence": _close,
    "CloseSequenceResponse": _closed,
    "TerminateSequence": _terminate,
    "TerminateSequenceResponse": _terminated,
}
_READERS: Final[dict[str, _Reader]] = {
    **{f"{{{names.RM[version]}}}{name}": read for version in Version for name, read in _RM_READERS.items()},
    f"{{{names.MAKE_CONNECTION}}}MakeConnection": _make_connection,
}
