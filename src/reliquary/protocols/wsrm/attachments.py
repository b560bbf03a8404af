"""Converts between the attachments of an envelope and the extension of a message.

    one attachment, extension@reliquary      the extension, as it is
    any others                               one MIME body in the extension, with a head that shows it

An extension counts as a MIME body only if `extension_of` would write equal bytes.
"""

from __future__ import annotations

from typing import Final

from reliquary.protocols.wsrm.codec.values import Attachment, Payload
from reliquary.wire.mime import PARTS_LIMIT, MimeFault, media_type, split

EXTENSION_ID: Final = "extension@reliquary"
_TYPE: Final = "application/octet-stream"
_HEAD: Final = b"Content-Type: multipart/mixed; boundary="
_PREFIX: Final = "reliquary-attachments"


def extension_of(attachments: tuple[Attachment, ...], start_type: str) -> bytes:
    """Return the extension for attachments; `start_type` as in `Payload`."""
    if not attachments:
        return b""
    if len(attachments) == 1 and attachments[0].content_id == EXTENSION_ID and not start_type:
        return attachments[0].data
    count = 0
    while any(f"{_PREFIX}-{count}".encode() in each.data for each in attachments):
        count += 1
    boundary = f"{_PREFIX}-{count}"
    kind = f'; type="{start_type}"' if start_type else ""
    parts = [_HEAD + f"{boundary}{kind}\r\n\r\n".encode("latin-1")]
    for each in attachments:
        head = f"--{boundary}\r\nContent-Type: {each.content_type}\r\n"
        if each.content_id:
            head += f"Content-ID: <{each.content_id}>\r\n"
        head += f"Content-Length: {len(each.data)}\r\n\r\n"
        parts += (head.encode("latin-1"), each.data, b"\r\n")
    parts.append(f"--{boundary}--\r\n".encode())
    return b"".join(parts)


def attachments_of(extension: bytes) -> Payload:
    """Return a payload that has the attachments of an extension, and no content."""
    if not extension:
        return Payload()
    if extension.startswith(_HEAD):
        found = _split(extension)
        if (
            found is not None
            and len(found.attachments) < PARTS_LIMIT
            and extension_of(found.attachments, found.start_type) == extension
        ):
            return found
    return Payload(attachments=(Attachment(_TYPE, EXTENSION_ID, extension),))


def _split(extension: bytes) -> Payload | None:
    head, _, body = extension.partition(b"\r\n\r\n")
    try:
        kind = media_type(head.decode("latin-1").partition(": ")[2])
        parts = split(body, kind.boundary)
    except MimeFault:
        return None
    attachments = tuple(
        Attachment(each.content_type, each.content_id.strip("<>"), each.data) for each in parts
    )
    return Payload(attachments=attachments, start_type=kind.root_type)
