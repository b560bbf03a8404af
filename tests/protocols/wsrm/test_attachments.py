"""Attachments are kept in the extension, and an extension travels as an attachment."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.wsrm.attachments import EXTENSION_ID, attachments_of, extension_of
from reliquary.protocols.wsrm.codec.values import Attachment, Payload
from reliquary.wire.mime import PARTS_LIMIT
from tests.protocols.wsrm.codec.strategies import attachments

PICTURE = Attachment("image/png", "a@b", b"\x89PNG")


@given(st.binary() | st.binary().map(lambda data: b"Content-Type: multipart/mixed; boundary=" + data))
def test_any_extension_comes_back(extension: bytes) -> None:
    payload = attachments_of(extension)
    assert extension_of(payload.attachments, payload.start_type) == extension


@given(attachments, st.sampled_from(["", "text/xml"]))
def test_any_attachments_come_back(parts: tuple[Attachment, ...], start_type: str) -> None:
    back = attachments_of(extension_of(parts, start_type))
    assert back.attachments == parts or back.attachments == attachments_of(parts[0].data).attachments
    assert back.start_type == (start_type if parts else "")


def test_the_extension_is_one_attachment_of_its_name() -> None:
    payload = attachments_of(b"raw")
    assert payload == Payload(attachments=(Attachment("application/octet-stream", EXTENSION_ID, b"raw"),))
    assert attachments_of(b"") == Payload()


def test_other_attachments_are_one_mime_body() -> None:
    extension = extension_of((PICTURE,), "text/xml")
    assert extension == (
        b'Content-Type: multipart/mixed; boundary=reliquary-attachments-0; type="text/xml"\r\n\r\n'
        b"--reliquary-attachments-0\r\nContent-Type: image/png\r\nContent-ID: <a@b>\r\n"
        b"Content-Length: 4\r\n\r\n\x89PNG\r\n--reliquary-attachments-0--\r\n"
    )
    assert attachments_of(extension) == Payload(attachments=(PICTURE,), start_type="text/xml")


def test_a_mime_body_that_we_would_write_otherwise_is_an_extension() -> None:
    extension = extension_of((PICTURE,), "").replace(b"Content-ID", b"content-id")
    (attachment,) = attachments_of(extension).attachments
    assert (attachment.content_id, attachment.data) == (EXTENSION_ID, extension)


def test_the_boundary_stands_in_no_part() -> None:
    part = Attachment("a/b", "", b"reliquary-attachments-0 reliquary-attachments-1")
    assert b"boundary=reliquary-attachments-2\r\n" in extension_of((part,), "")


@pytest.mark.parametrize("count", [PARTS_LIMIT - 1, PARTS_LIMIT])
def test_an_extension_has_as_many_parts_as_an_envelope_leaves_room_for(count: int) -> None:
    extension = extension_of((PICTURE,) * count, "")
    assert len(attachments_of(extension).attachments) == (count if count < PARTS_LIMIT else 1)
