"""A second decoder of SRMP messages, written from the grammar of [MC-MQSRM] 2.2 alone.

It shares no line with the first one: another XML parser, another way to cut MIME parts, no values of
ours.  It is strict where the grammar is and knows nothing of leniency; what the encoder writes has to
pass it and say here what it says there.
"""

from __future__ import annotations

import base64
import calendar
import re
import time
import uuid
from collections.abc import Callable
from typing import Any
from xml.etree import ElementTree

SOAP = "{http://schemas.xmlsoap.org/soap/envelope/}"
RP = "{http://schemas.xmlsoap.org/rp/}"
SRMP = "{http://schemas.xmlsoap.org/srmp/}"
MSMQ = "{msmq.namespace.xml}"
DSIG = "{http://www.w3.org/2000/02/xmldsig#}"

ORDER = [
    RP + "path",
    SRMP + "properties",
    SRMP + "services",
    SRMP + "stream",
    SRMP + "streamReceipt",
    SRMP + "deliveryReceipt",
    SRMP + "commitmentReceipt",
    MSMQ + "Msmq",
    DSIG + "Signature",
]
MSMQ_ORDER = [
    *[
        "Class",
        "Priority",
        "Journal",
        "DeadLetter",
        "Correlation",
        "Trace",
        "ConnectorType",
        "App",
        "BodyType",
    ],
    *[
        "HashAlgorithm",
        "Eod",
        "Provider",
        "SourceQmGuid",
        "DestinationMqf",
        "AdminMqf",
        "ResponseMqf",
        "TTrq",
    ],
]
Said = dict[str, Any]


class Violation(Exception):
    """The message breaks the grammar."""


def demand(condition: bool, what: str) -> None:
    if not condition:
        raise Violation(what)


def second_decode(content_type: str, body: bytes) -> Said:
    """Return all that a message says, under the names of the specification, and nothing else."""
    if content_type == "text/xml":
        return read_envelope(body)
    found = re.fullmatch(r'multipart/related; boundary="([^"]+)"; type=text/xml', content_type)
    demand(found is not None, f"content type {content_type}")
    assert found
    parts = cut(body, found[1].encode())
    demand(parts[0][0]["content-type"] == "text/xml; charset=UTF-8", "the root is XML in UTF-8")
    said = read_envelope(parts[0][1])
    for fields, data in parts[1:]:
        demand(fields["content-type"] == "application/octet-stream", "a payload is an octet stream")
        name, guid = fields["content-id"].split("@")
        said[{"body": "Body", "extension": "Extension"}[name]] = data
        said[f"{name} of"] = uuid.UUID(guid)
    return said


def cut(body: bytes, boundary: bytes) -> list[tuple[dict[str, str], bytes]]:
    """Return the parts: lines up to each blank line, and then as many bytes as they say."""
    parts: list[tuple[dict[str, str], bytes]] = []
    rest = body
    while True:
        demand(rest.startswith(b"--" + boundary), "a part begins with the delimiter")
        rest = rest[2 + len(boundary) :]
        if rest.startswith(b"--"):
            demand(rest in (b"--", b"--\r\n"), "nothing follows the closing delimiter")
            return parts
        demand(rest.startswith(b"\r\n"), "a delimiter is a line")
        rest = rest[2:]
        fields = {}
        while not rest.startswith(b"\r\n"):
            line, rest = rest.split(b"\r\n", 1)
            name, value = line.decode("ascii").split(": ", 1)
            fields[name.lower()] = value
        size = int(fields["content-length"])
        demand(len(rest) >= 2 + size, "as many bytes as are announced")
        parts.append((fields, rest[2 : 2 + size]))
        rest = rest[2 + size :]
        if rest.startswith(b"\r\n"):
            rest = rest[2:]


def read_envelope(data: bytes) -> Said:
    text = data.decode("utf-8")
    demand("<!" not in text and "<?" not in text, "no declarations and no instructions")
    root = ElementTree.fromstring(text)
    demand(root.tag == SOAP + "Envelope", "the root is an Envelope")
    demand([child.tag for child in root] == [SOAP + "Header", SOAP + "Body"], "Header and Body")
    header, empty = root
    demand(not len(empty) and not empty.text, "the Body is empty")
    tags = [block.tag for block in header]
    demand(tags == [tag for tag in ORDER if tag in tags], f"each block once and in order: {tags}")
    demand(tags[:2] == ORDER[:2], "path and properties")
    for block in header:
        if block.tag in ORDER[:4]:
            demand(block.get(SOAP + "mustUnderstand") == "1", f"{block.tag} must be understood")
    said: Said = {}
    readers: dict[str, Callable[[ElementTree.Element], Said]] = {
        "path": path,
        "properties": properties,
        "services": services,
        "stream": stream,
        "streamReceipt": stream_receipt,
        "deliveryReceipt": delivery_receipt,
        "commitmentReceipt": commitment_receipt,
        "Msmq": msmq,
        "Signature": lambda block: {"Signature": ElementTree.tostring(block)},
    }
    for block in header:
        said.update(readers[block.tag.split("}")[1]](block))
    if "streamId" in said:
        demand("Class" in said, "a stream needs Msmq")
        demand("durable" in said, "a stream needs durable")
        demand(("sendReceiptsTo" in said) == (said["current"] == 1), "start is in the first message")
    return said


# -- lexical types


def children(block: ElementTree.Element, namespace: str, names: list[str]) -> dict[str, ElementTree.Element]:
    """Return the children by name: known ones only, each once, in this order."""
    found = [child.tag for child in block]
    demand(all(tag.startswith(namespace) for tag in found), f"namespaces in {block.tag}")
    plain = [tag.removeprefix(namespace) for tag in found]
    demand(plain == [name for name in names if name in plain], f"order in {block.tag}: {plain}")
    return dict(zip(plain, block, strict=True))


def text(element: ElementTree.Element) -> str:
    demand(not len(element), f"{element.tag} holds text")
    return element.text or ""


def ulong(element: ElementTree.Element) -> int:
    demand(re.fullmatch("0|[1-9][0-9]*", text(element)) is not None, f"{element.tag} is a number")
    demand(int(text(element)) < 1 << 64, f"{element.tag} has 64 bits")
    return int(text(element))


def guid(value: str) -> uuid.UUID:
    demand(re.fullmatch("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", value) is not None, f"{value} is a GUID")
    return uuid.UUID(value)


def date(element: ElementTree.Element) -> int:
    return calendar.timegm(time.strptime(text(element), "%Y%m%dT%H%M%S"))


def flag(found: dict[str, ElementTree.Element], name: str) -> Said:
    if name not in found:
        return {}
    demand(not len(found[name]) and not found[name].text, f"{name} is empty")
    return {name: True}


def http(element: ElementTree.Element) -> str:
    demand(re.match("https?://[^/]+/", text(element)) is not None, f"{element.tag} is a URL")
    return text(element)


# -- blocks


def path(block: ElementTree.Element) -> Said:
    found = children(block, RP, ["action", "to", "id", "rev"])
    said: Said = {"action": text(found["action"])}
    said["to"] = text(found["to"])
    multicast = re.fullmatch(r"MSMQ:MULTICAST=(22[4-9]|23\d)(\.\d{1,3}){3}:\d{1,5}", said["to"])
    demand(multicast is not None or bool(http(found["to"])), "to is a URL or a multicast address")
    number, who = re.fullmatch(r"uuid:(\d+)@(.*)", text(found["id"])).groups()  # type: ignore[union-attr]
    said["id"] = (int(number), guid(who))
    if "rev" in found:
        said["via"] = text(children(found["rev"], RP, ["via"])["via"])
        demand(re.match("https?://|MSMQ:", said["via"]) is not None, "via names a queue")
    return said


def properties(block: ElementTree.Element) -> Said:
    found = children(block, SRMP, ["expiresAt", "sentAt"])
    return {name: date(found[name]) for name in ("expiresAt", "sentAt") if name in found}


def services(block: ElementTree.Element) -> Said:
    found = children(block, SRMP, ["durable", "deliveryReceiptRequest", "commitmentReceiptRequest"])
    demand(bool(found), "services without a service")
    said = flag(found, "durable")
    if "deliveryReceiptRequest" in found:
        inner = children(found["deliveryReceiptRequest"], SRMP, ["sendTo"])
        said["delivery to"] = http(inner["sendTo"])
    if "commitmentReceiptRequest" in found:
        inner = children(found["commitmentReceiptRequest"], SRMP, ["sendTo", "positiveOnly", "negativeOnly"])
        said["commitment to"] = http(inner["sendTo"])
        said.update(flag(inner, "positiveOnly") | flag(inner, "negativeOnly"))
    return said


def stream_id(value: str) -> tuple[uuid.UUID, int]:
    found = re.fullmatch(r"uid:([^\\]*)\\(\d+)", value)
    demand(found is not None, f"{value} names a stream")
    assert found
    return guid(found[1]), int(found[2])


def stream(block: ElementTree.Element) -> Said:
    found = children(block, SRMP, ["streamId", "current", "previous", "start"])
    said: Said = {"streamId": stream_id(text(found["streamId"])), "current": ulong(found["current"])}
    demand(said["current"] > 0, "numbers begin with 1")
    if "previous" in found:
        said["previous"] = ulong(found["previous"])
        demand(said["previous"] < said["current"], "previous lies before current")
    if "start" in found:
        said["sendReceiptsTo"] = http(children(found["start"], SRMP, ["sendReceiptsTo"])["sendReceiptsTo"])
    return said


def stream_receipt(block: ElementTree.Element) -> Said:
    found = children(block, SRMP, ["streamId", "lastOrdinal"])
    return {"receipt of": stream_id(text(found["streamId"])), "lastOrdinal": ulong(found["lastOrdinal"])}


def delivery_receipt(block: ElementTree.Element) -> Said:
    found = children(block, SRMP, ["receivedAt", "id"])
    return {"receivedAt": date(found["receivedAt"]), "delivered": text(found["id"])}


def commitment_receipt(block: ElementTree.Element) -> Said:
    found = children(block, SRMP, ["decidedAt", "decision", "id"])
    decision = text(found["decision"])
    demand(decision in ("positive", "negative"), "a decision is one of two words")
    return {"decidedAt": date(found["decidedAt"]), "decision": decision, "decided": text(found["id"])}


def msmq(block: ElementTree.Element) -> Said:
    found = children(block, MSMQ, MSMQ_ORDER)
    said: Said = {}
    for name in ("Class", "Priority", "BodyType", "SourceQmGuid", "TTrq"):
        demand(name in found, f"Msmq has {name}")
    for name in ("Class", "Priority", "App", "BodyType", "HashAlgorithm"):
        if name in found:
            said[name] = ulong(found[name])
    demand(said["Priority"] < 8, "a priority is 0 to 7")
    for name in ("Journal", "DeadLetter", "Trace"):
        said.update(flag(found, name))
    if "Correlation" in found:
        raw = base64.b64decode(text(found["Correlation"]), validate=True)
        demand(len(raw) == 20, "a correlation has 20 bytes")
        said["Correlation"] = (uuid.UUID(bytes_le=raw[:16]), int.from_bytes(raw[16:], "little"))
    for name in ("ConnectorType", "SourceQmGuid"):
        if name in found:
            said[name] = guid(text(found[name]))
    if "Eod" in found:
        inner = children(found["Eod"], MSMQ, ["First", "Last", "ConnectorId"])
        demand(bool(inner), "Eod without a child")
        said.update(flag(inner, "First") | flag(inner, "Last"))
        if "ConnectorId" in inner:
            said["ConnectorId"] = guid(text(inner["ConnectorId"]))
    if "Provider" in found:
        inner = children(found["Provider"], MSMQ, ["Type", "Name"])
        said["Provider"] = (ulong(inner["Type"]), text(inner["Name"]))
    for name in ("DestinationMqf", "AdminMqf", "ResponseMqf"):
        if name in found:
            demand(re.fullmatch(r"(\S+\s)+", text(found[name])) is not None, f"{name} is a list of names")
            said[name] = text(found[name]).split()
    said["TTrq"] = date(found["TTrq"])
    return said
