"""The vectors beside this file, and the published envelopes of [MS-WSRVCRM] 4."""

from __future__ import annotations

from pathlib import Path

from reliquary.protocols.wsrm.codec import names
from reliquary.protocols.wsrm.codec.values import Addressing, Dialect, Soap, Version

FOLDER = Path(__file__).parent / "vectors"
GSOAP = {path.stem: path.read_bytes() for path in sorted((FOLDER / "gsoap").glob("*.xml"))}
DIALECTS = [Dialect(version, soap, wsa) for version in Version for soap in Soap for wsa in Addressing]
XML_TYPE = "text/xml; charset=utf-8"

SEQUENCE = "urn:uuid:0b162747-99cf-479c-972f-95b776e141c3"
"""The sequence of the published example."""
_BEGIN = """<s:Envelope xmlns:s="http://www.w3.org/2003/05/soap-envelope" \
xmlns:r="http://schemas.xmlsoap.org/ws/2005/02/rm" xmlns:a="http://www.w3.org/2005/08/addressing">
  <s:Header>
"""
_END = """
  </s:Header>
  <s:Body></s:Body>
</s:Envelope>
"""


def published_message(number: int) -> bytes:
    """Return messages 1, 3 and 6 of [MS-WSRVCRM] 4.1."""
    return f"""{_BEGIN}    <r:Sequence s:mustUnderstand="1">
      <r:Identifier>
        {SEQUENCE}
      </r:Identifier>
      <r:MessageNumber>{number}</r:MessageNumber>
    </r:Sequence>
    <a:Action s:mustUnderstand="1">
      http://tempuri.org/IAFCEExampleContract/Operation1
    </a:Action>
    <a:To s:mustUnderstand="1">http://localhost/AFCEExample</a:To>{_END}""".encode()


def published_acknowledgement(upper: int, room: object) -> bytes:
    """Return messages 2, 4, 5 and 7 of [MS-WSRVCRM] 4.1."""
    return f"""{_BEGIN}    <r:SequenceAcknowledgement>
      <r:Identifier>
        {SEQUENCE}
      </r:Identifier>
      <r:AcknowledgementRange Lower="1" Upper="{upper}"></r:AcknowledgementRange>
      <netrm:BufferRemaining xmlns:netrm="http://schemas.microsoft.com/ws/2006/05/rm">
        {room}
      </netrm:BufferRemaining>
    </r:SequenceAcknowledgement>
    <a:Action s:mustUnderstand="1">
      http://schemas.xmlsoap.org/ws/2005/02/rm/SequenceAcknowledgement
    </a:Action>{_END}""".encode()


def soap12(blocks: str, body: str = "", *, version: Version = Version.RM11) -> bytes:
    """Return an envelope of SOAP 1.2 with prefixes s, a (WS-Addressing 1.0), r (WS-RM), f (flow control)."""
    return (
        f'<s:Envelope xmlns:s="{names.SOAP[Soap.SOAP12]}" xmlns:a="http://www.w3.org/2005/08/addressing"'
        f' xmlns:r="{names.RM[version]}" xmlns:f="{names.FLOW}">'
        f"<s:Header>{blocks}</s:Header><s:Body>{body}</s:Body></s:Envelope>"
    ).encode()
