"""Defines the decoded content of a body; `decode` makes it, `silver` makes columns of it."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum

import msgspec

from reliquary.protocols.srmp.codec.values import Envelope


class BodyKind(StrEnum):
    """The kind of a body, by its first bytes."""

    EMPTY = "empty"
    TEXT = "text"
    JSON = "json"
    XML = "xml"
    SOAP = "soap"
    """An envelope of an application."""
    SRMP = "srmp"
    """A message of another manager, as it travels: an envelope, alone or in a MIME body."""
    MIME = "mime"
    HTTPR = "httpr"
    """A datastream of HTTPR: a command, and a batch if it has one."""
    BINARY = "binary"


class Part(msgspec.Struct, frozen=True, gc=False):
    """One part of a MIME body, or one message of a batch."""

    content_type: str
    content_id: str
    fields: Mapping[str, str]
    """The header of a message of a batch."""
    data: bytes


class Soap(msgspec.Struct, frozen=True, gc=False):
    """The description of a SOAP envelope."""

    version: str
    blocks: tuple[str, ...]
    """The names of the header blocks, as `{namespace}name`."""
    operation: str
    """The name of the first element of the Body; empty without one."""
    fault: str
    """The reason in the envelope, if it is a Fault."""


class Content(msgspec.Struct, frozen=True, gc=False):
    """A message that was decoded."""

    kind: BodyKind
    encoding: str = ""
    """The encoding of the text; empty for a body that is no text."""
    text: str | None = None
    envelope: Envelope | None = None
    """The SRMP envelope of the message, or of the body if it is one."""
    soap: Soap | None = None
    fields: Mapping[str, str] | None = None
    """The HTTPR header of the message, or of the command if the body is one."""
    parts: tuple[Part, ...] = ()
    data: str | None = None
    """The content of an XML document as JSON (`xml_json`)."""


class Damage(msgspec.Struct, frozen=True, gc=False):
    """The reason why a message was not decoded."""

    kind: BodyKind
    """The kind that the body seemed to have."""
    why: str
    place: str = ""
    """The element, the part or the attribute that is wrong."""
    at: int | None = None
    """The byte of the body where that shows, if it is known."""
