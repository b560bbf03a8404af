"""Separates the header of an envelope into its blocks and their elements.

Elements are known by namespace and name, in any order; unknown elements are ignored, except a block
that must be understood (SOAP 1.1, 4.2.3).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, TypeAlias, Union

import msgspec

from reliquary.protocols.srmp.codec.faults import SrmpFault
from reliquary.protocols.srmp.codec.lexical import SPACE, spec
from reliquary.wire.soap import MUST_UNDERSTAND, block_text
from reliquary.wire.xml import Element

ROUTING: Final = "http://schemas.xmlsoap.org/rp/"
SRMP: Final = "http://schemas.xmlsoap.org/srmp/"
MSMQ: Final = "msmq.namespace.xml"
OURS: Final = "urn:reliquary:streams"
"""The namespace of a block that only this program writes and reads; other managers ignore it."""
SIGNATURE: Final = "http://www.w3.org/2000/02/xmldsig#"

NAMED_LIMIT: Final = 200
"""The most characters of a foreign name in a fault."""

Fields: TypeAlias = dict[str, Union[str, "Fields"]]
"""The content of an element: texts, or nested elements, by name."""
Known: TypeAlias = Mapping[str, tuple[str, Union["Known", None]]]
"""The content that an element may have: tags, each with its name and the elements that it may contain."""


class Header(msgspec.Struct, frozen=True):
    """The header blocks of an envelope."""

    blocks: dict[str, Fields]
    signature: str = ""
    """The `Signature` element as text."""
    capital_stream: bool = False
    """Whether `stream` is spelled `Stream`, as in Windows."""


def _known(namespace: str, names: str, **inner: str) -> Known:
    return {
        f"{{{namespace}}}{name}": (name, _known(namespace, inner[name]) if name in inner else None)
        for name in names.split()
    }


_REQUEST: Final = "sendTo positiveOnly negativeOnly"
_STREAM: Final = _known(SRMP, "streamId current previous start", start="sendReceiptsTo")
_BLOCKS: Final[Known] = {
    f"{{{ROUTING}}}path": ("path", _known(ROUTING, "action to id rev", rev="via")),
    f"{{{SRMP}}}properties": ("properties", _known(SRMP, "expiresAt sentAt")),
    f"{{{SRMP}}}services": (
        "services",
        _known(
            SRMP,
            "durable deliveryReceiptRequest commitmentReceiptRequest",
            deliveryReceiptRequest=_REQUEST,
            commitmentReceiptRequest=_REQUEST,
        ),
    ),
    f"{{{SRMP}}}stream": ("stream", _STREAM),
    f"{{{SRMP}}}Stream": ("stream", _STREAM),
    f"{{{SRMP}}}deliveryReceipt": ("deliveryReceipt", _known(SRMP, "receivedAt id")),
    f"{{{SRMP}}}commitmentReceipt": ("commitmentReceipt", _known(SRMP, "decidedAt decision id")),
    f"{{{SRMP}}}streamReceipt": ("streamReceipt", _known(SRMP, "streamId lastOrdinal")),
    f"{{{MSMQ}}}Msmq": (
        "Msmq",
        _known(
            MSMQ,
            "Class Priority Journal DeadLetter Correlation Trace ConnectorType App BodyType HashAlgorithm"
            " Eod Provider SourceQmGuid DestinationMqf AdminMqf ResponseMqf TTrq",
            Eod="First Last ConnectorId",
            Provider="Type Name",
        ),
    ),
    f"{{{OURS}}}unconfirmed": ("unconfirmed", _known(OURS, "sendReceiptsTo")),
    f"{{{SIGNATURE}}}Signature": ("Signature", {}),
}
_UNDERSTOOD: Final = ("path", "properties", "services", "stream")
"""The blocks that must be understood (SR-023, SR-044, SR-051, SR-066)."""


def read_blocks(header: Element, data: bytes) -> Header:
    """Return the blocks of a header; `data` is the envelope that contains it."""
    blocks: dict[str, Fields] = {}
    capital_stream = False
    for block in header:
        tag = block.tag
        name, known = _BLOCKS.get(tag, ("", None))
        must = block.get(MUST_UNDERSTAND, "").strip(SPACE)
        if known is None:
            if must not in ("", "0"):
                tag = tag[:NAMED_LIMIT]
                raise SrmpFault(tag, f"<{tag}> must be understood, and is not", spec="SOAP 1.1 section 4.2.3")
            continue
        if name in blocks:
            raise SrmpFault(name, f"there are two <{name}> in the Header", spec=spec("2.2.2"))
        if name in _UNDERSTOOD and must != "1":
            raise SrmpFault(name, f'<{name}> must have se:mustUnderstand="1"', spec=spec("2.2"))
        blocks[name] = _fields(block, known, name)
        capital_stream = capital_stream or tag == f"{{{SRMP}}}Stream"
    signature = block_text(data, SIGNATURE, "Signature") if "Signature" in blocks else ""
    return Header(blocks, signature, capital_stream)


def _fields(element: Element, known: Known, parent: str) -> Fields:
    found: Fields = {}
    for child in element:
        name, inner = known.get(child.tag, ("", None))
        if not name:
            continue
        if name in found:
            raise SrmpFault(name, f"there are two <{name}> in <{parent}>", spec=spec("2.2"))
        if inner is not None:
            found[name] = _fields(child, inner, name)
        elif len(child):
            raise SrmpFault(name, f"<{name}> holds elements where text belongs", spec=spec("2.2"))
        else:
            found[name] = child.text or ""
    return found
