"""Header blocks and bodies that we write, checked against the published schemas of every dialect."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from lxml import etree

from reliquary.protocols.wsrm.codec import addressing, names
from reliquary.protocols.wsrm.codec.multipart import parts_of
from reliquary.protocols.wsrm.codec.values import Addressing, Dialect, Encoded, Soap, Version
from reliquary.wire.xml import Element, root_of
from tests.protocols.wsrm.codec.vector import FOLDER

_FILES = {
    "http://www.w3.org/2006/03/addressing/ws-addr.xsd": "ws-addr.xsd",
    "http://schemas.xmlsoap.org/ws/2004/08/addressing": "addressing.xsd",
}
_ROOM = f"""<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="{names.FLOW}">
<xs:element name="BufferRemaining"><xs:simpleType><xs:restriction base="xs:int">
<xs:minInclusive value="0"/><xs:maxInclusive value="2147483647"/>
</xs:restriction></xs:simpleType></xs:element></xs:schema>"""


class _Local(etree.Resolver):
    def resolve(self, system_url: str, public_id: str, context: object) -> Any:  # type: ignore[override]
        name = _FILES.get(system_url)
        here: Any = self
        return here.resolve_filename(str(FOLDER / "schemas" / name), context) if name else None


def _parsed(data: bytes) -> Element:
    parser = etree.XMLParser(no_network=True)
    parser.resolvers.add(_Local())
    return etree.fromstring(data, parser)


@lru_cache
def _schema(name: str, wsa: Addressing) -> etree.XMLSchema:
    data = (FOLDER / "schemas" / name).read_bytes()
    if name == "wsrm-1.1.xsd" and wsa is Addressing.WSA2004:  # there is none: as wsrm-1.0-wsa15 was made
        data = data.replace(
            b"http://www.w3.org/2006/03/addressing/ws-addr.xsd", addressing.NAMESPACES[wsa].encode()
        ).replace(addressing.NAMESPACES[Addressing.WSA10].encode(), addressing.NAMESPACES[wsa].encode())
    return etree.XMLSchema(_parsed(data))


_flow = etree.XMLSchema(etree.fromstring(_ROOM))


def schema_of(element: Element, dialect: Dialect) -> etree.XMLSchema | None:
    """Return the schema for an element; None where no specification has one."""
    namespace = etree.QName(element).namespace
    wsa = dialect.addressing
    if namespace == names.RM[dialect.version]:
        if dialect.version is Version.RM11:
            return _schema("wsrm-1.1.xsd", wsa)
        return _schema("wsrm-1.0.xsd" if wsa is Addressing.WSA2004 else "wsrm-1.0-wsa15.xsd", wsa)
    if namespace == addressing.NAMESPACES[wsa] and etree.QName(element).localname != "FaultDetail":
        return _schema("addressing.xsd" if wsa is Addressing.WSA2004 else "ws-addr.xsd", wsa)
    if namespace == names.MAKE_CONNECTION:
        return _schema("wsmc-1.1.xsd", Addressing.WSA10)
    return _flow if namespace == names.FLOW else None


def check_schemas(encoded: Encoded, dialect: Dialect) -> int:
    """Check all that has a schema, and return how many elements those were."""
    root = root_of(parts_of(encoded.content_type, encoded.data).envelope)
    assert root.tag == f"{{{names.SOAP[dialect.soap]}}}Envelope"
    header, body = root
    checked = 0
    for element in [*header, *body, *root.iter(f"{{{names.FLOW}}}BufferRemaining"), *_details(body, dialect)]:
        schema = schema_of(element, dialect)
        if schema is not None:
            schema.assertValid(_alone(element))
            checked += 1
    return checked


def _alone(element: Element) -> Element:
    """Return the element as a document of its own, with the namespaces that its QNames need."""
    return etree.fromstring(etree.tostring(element, with_tail=False))


def _details(body: Element, dialect: Dialect) -> list[Element]:
    tag = "detail" if dialect.soap is Soap.SOAP11 else f"{{{names.SOAP[dialect.soap]}}}Detail"
    found = [child for detail in body.iter(tag) for child in detail]
    return [child for child in found if etree.QName(child).localname != "MaxMessageNumber"]
