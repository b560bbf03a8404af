"""Negotiates the interfaces and transfer syntaxes of a connection, C706 12.6.3.1 and [MS-RPCE] 3.3.1.5.6.

For each element of a bind or an alter_context:

    its first transfer syntax offers features    the features of both sides (once, and only in a bind)
    the interface is not served                  rejected: abstract syntax
    no transfer syntax is supported            rejected: transfer syntaxes
    the interface was accepted before, here      rejected: transfer syntaxes
    the number is in use for another context      a violation: the connection ends
    otherwise                                    accepted, with the first supported transfer syntax

The client chooses between NDR 2.0 and NDR64 by the order in which it offers them (QP-007, QP-008).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple

from reliquary.wire.ndr.encoding import Encoding
from reliquary.wire.rpc.binds import ContextElement, ContextResult, Reason, Result
from reliquary.wire.rpc.features import FEATURES, offered_features
from reliquary.wire.rpc.syntaxes import ENCODINGS, SyntaxId


class PresentationContext(NamedTuple):
    """The meaning of a presentation context number in requests."""

    interface: SyntaxId
    transfer: SyntaxId
    encoding: Encoding


class Violation(Exception):
    """A client offers a context that it must not offer; the text has the reason."""


class Negotiated(NamedTuple):
    """The answers to all elements, and the contexts that are new."""

    results: tuple[ContextResult, ...]
    added: dict[int, PresentationContext]


_NOT_SERVED = ContextResult(Result.PROVIDER_REJECTION, Reason.ABSTRACT_SYNTAX)
_NOT_SPOKEN = ContextResult(Result.PROVIDER_REJECTION, Reason.TRANSFER_SYNTAXES)
_TOO_MANY = ContextResult(Result.PROVIDER_REJECTION, Reason.LOCAL_LIMIT)


def negotiate(
    elements: Collection[ContextElement],
    known: Mapping[int, PresentationContext],
    interfaces: Collection[SyntaxId],
    limit: int,
    *,
    first: bool,
) -> Negotiated:
    """Answer the elements of a bind (`first`) or an alter_context; Violation if they break the protocol."""
    if not elements:
        raise Violation("no presentation context is offered")
    added: dict[int, PresentationContext] = {}
    accepted: set[SyntaxId] = set()
    results = []
    features = 0
    for element in elements:
        if not element.transfers:
            raise Violation(f"presentation context {element.number} has no transfer syntax")
        offered = offered_features(element.transfers[0])
        if offered is not None:
            features += 1
            results.append(ContextResult(Result.NEGOTIATE_ACK, offered & FEATURES))
            continue
        results.append(_answer(element, {**known, **added}, added, accepted, interfaces, limit))
    if features > first:
        raise Violation("features are offered twice, or after the bind")
    return Negotiated(tuple(results), added)


def _answer(
    element: ContextElement,
    known: Mapping[int, PresentationContext],
    added: dict[int, PresentationContext],
    accepted: set[SyntaxId],
    interfaces: Collection[SyntaxId],
    limit: int,
) -> ContextResult:
    """Answer one element that offers transfer syntaxes."""
    present = known.get(element.number)
    if present is not None and present.interface != element.interface:
        raise Violation(f"presentation context {element.number} names another interface than before")
    if element.interface not in interfaces:
        return _NOT_SERVED
    spoken = [transfer for transfer in element.transfers if transfer in ENCODINGS]
    if not spoken:
        return _NOT_SPOKEN
    if present is not None and set(spoken) != {present.transfer}:
        raise Violation(f"presentation context {element.number} has another transfer syntax than before")
    if element.interface in accepted:
        return _NOT_SPOKEN
    if present is None:
        if len(known) >= limit:
            return _TOO_MANY
        added[element.number] = PresentationContext(element.interface, spoken[0], ENCODINGS[spoken[0]])
    accepted.add(element.interface)
    return ContextResult(Result.ACCEPTED, 0, spoken[0])
