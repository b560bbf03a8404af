"""The message of the SRMP benchmark: durable, 1 KB, each with an identifier of its own."""

from __future__ import annotations

from pathlib import Path

BOUNDARY = "MSMQ - SOAP boundary, 4711"
CONTENT_TYPE = f'multipart/related; boundary="{BOUNDARY}"; type=text/xml'
SENDER = "5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10"
FIRST = 1_000_000_000
"""Identifiers count from here: all have as many digits, so all messages have one length."""
BODY = bytes(range(1, 65)) * 16
_PLACE = "@@"

_ENVELOPE = (
    '<se:Envelope xmlns:se="http://schemas.xmlsoap.org/soap/envelope/"'
    ' xmlns="http://schemas.xmlsoap.org/srmp/"><se:Header>'
    '<path xmlns="http://schemas.xmlsoap.org/rp/" se:mustUnderstand="1"><action>MSMQ:bench</action>'
    "<to>{to}</to><id>uuid:" + _PLACE + "@{sender}</id></path>"
    '<properties se:mustUnderstand="1"><expiresAt>20380119T031407</expiresAt>'
    "<sentAt>20260801T120000</sentAt></properties>"
    '<services se:mustUnderstand="1"><durable/></services>'
    '<Msmq xmlns="msmq.namespace.xml"><Class>0</Class><Priority>3</Priority><BodyType>0</BodyType>'
    "<SourceQmGuid>{sender}</SourceQmGuid><TTrq>20380119T031407</TTrq></Msmq>"
    "</se:Header><se:Body></se:Body></se:Envelope>"
)


def halves(to: str) -> tuple[bytes, bytes]:
    """Return a whole POST body for this destination, before and after the identifier's number."""
    envelope = _ENVELOPE.format(to=to, sender=SENDER)
    length = len(envelope) - len(_PLACE) + len(str(FIRST))
    before, after = envelope.split(_PLACE)
    head = (
        f"--{BOUNDARY}\r\nContent-Type: text/xml; charset=UTF-8\r\nContent-Length: {length}\r\n\r\n{before}"
    )
    tail = (
        f"{after}\r\n--{BOUNDARY}\r\nContent-Type: application/octet-stream\r\n"
        f"Content-Length: {len(BODY)}\r\nContent-Id: body@{SENDER}\r\n\r\n"
    )
    return head.encode(), tail.encode() + BODY + f"\r\n--{BOUNDARY}--\r\n".encode()


def lua(to: str, path: Path) -> None:
    """Write the script that makes wrk post these messages."""
    head, tail = (_quoted(half) for half in halves(to))
    path.write_text(
        f"local head, tail, number = {head}, {tail}, {FIRST}\n"
        f"wrk.method = 'POST'\nwrk.headers['Content-Type'] = {_quoted(CONTENT_TYPE.encode())}\n"
        "wrk.headers['SOAPAction'] = '\"MSMQMessage\"'\n"
        "request = function()\n"
        "  number = number + 1\n"
        "  return wrk.format(nil, nil, nil, head .. number .. tail)\n"
        "end\n"
    )


def _quoted(text: bytes) -> str:
    return '"' + "".join(f"\\{byte:03}" for byte in text) + '"'
