"""Defines the namespaces that both versions of WS-RM use, and tables over the versions."""

from __future__ import annotations

from typing import Final

from reliquary.protocols.wsrm.codec import rm10, rm11
from reliquary.protocols.wsrm.codec.values import Soap, Version

SOAP: Final = {
    Soap.SOAP11: "http://schemas.xmlsoap.org/soap/envelope/",
    Soap.SOAP12: "http://www.w3.org/2003/05/soap-envelope",
}
RM: Final = {Version.RM10: rm10.NAMESPACE, Version.RM11: rm11.NAMESPACE}
RM_VERSIONS: Final = {namespace: version for version, namespace in RM.items()}
FLOW: Final = "http://schemas.microsoft.com/ws/2006/05/rm"
"""The namespace of BufferRemaining, for every version of WS-RM (FC-007)."""
MAKE_CONNECTION: Final = rm11.MAKE_CONNECTION_NAMESPACE
OURS: Final = "urn:reliquary:wsrm"
"""The namespace of the header block and the element for values without a place in WS-RM."""
