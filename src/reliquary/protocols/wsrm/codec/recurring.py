"""Caches heads of envelopes: messages of a sequence often differ only in number, MessageID and content.

    <s:Envelope ...><s:Header>...<r:MessageNumber>7</...><a:MessageID>urn:uuid:...</...></s:Header><s:Body>
    '------------- frame: this text, with other words for the number and for the MessageID -------------'

A frame that came twice is read once more as an envelope without content, and the result is kept.  From
then on only the content of a message with this frame needs a parser.  The result equals that of reading
the whole envelope; if that is not certain, the whole envelope is read.
"""

from __future__ import annotations

import re
from typing import Final, NamedTuple

from msgspec.structs import replace

from reliquary.protocols.wsrm.codec.fragments import Namespaces, standing_alone
from reliquary.protocols.wsrm.codec.values import Attachment, Envelope, Payload, SequenceHeader
from reliquary.wire.xml import XmlFault, root_of
from reliquary.wire.xml_text import quoted

LONGEST: Final = 8192
"""The most bytes of a frame that is kept."""
MOST: Final = 512
"""The largest number of frames that are kept."""

_NUMBER_NAME: Final = b"MessageNumber"
_NUMBER_TAG: Final = b"MessageNumber>"
_ID_NAME: Final = b"MessageID"
_ID_TAG: Final = b"MessageID>"
_HEADER_TAG: Final = b"Header>"
_DIGITS: Final = re.compile(rb"[0-9]{1,18}(?=</)")
_PLAIN: Final = re.compile(rb"[!-%'-;=?-~]{1,200}(?=</)")
"""A MessageID that needs no decoding: no white space, no character reference, only ASCII."""
_SOME_NUMBER: Final = b"1"
_SOME_ID: Final = b"urn:some"
_CLOSING: Final = b"</e></e>"


class Cut(NamedTuple):
    """The parts of an envelope: what varies per message, and the frame that recurs."""

    frame: bytes
    """The bytes before and after the content, without number and MessageID."""
    number: int
    message_id: str
    """The MessageID; empty if there is none."""
    content: bytes


class Head:
    """The parsed content of a frame, to which the varying parts are added."""

    __slots__ = ("_envelope", "_namespaces", "_opening", "_prefixes")

    def __init__(self, envelope: Envelope, namespaces: Namespaces) -> None:
        """`namespaces` are those of the elements around the content."""
        self._envelope = envelope
        self._namespaces = namespaces
        declared = "".join([
            f" xmlns{f':{prefix}' if prefix else ''}={quoted(namespace or '')}"
            for prefix, namespace in namespaces.items()
        ])  # fmt: skip
        self._opening = f"<e{declared}><e>".encode()
        self._prefixes = tuple([(prefix or "").encode() for prefix in namespaces])

    def envelope(
        self, cut: Cut, attachments: tuple[Attachment, ...] = (), start_type: str = ""
    ) -> Envelope | None:
        """Return the envelope with this frame; None if the whole envelope must be read."""
        content: bytes | None = cut.content
        if content:
            try:
                root = root_of(b"".join((self._opening, content, _CLOSING)))  # as deep as in a Body
            except XmlFault:
                return None
            if len(root) != 1:  # the content closes what it did not open
                return None
            if self._may_need(content):
                content = standing_alone(content, root[0], self._namespaces)
        if content is None:
            return None
        place = self._envelope.sequence
        assert place is not None, "a frame has a number, so it has a place in a sequence"
        return replace(
            self._envelope,
            sequence=SequenceHeader(place.identifier, cut.number, place.last),
            message_id=cut.message_id,
            body=Payload(content, attachments, start_type),
        )

    def _may_need(self, content: bytes) -> bool:
        """Return whether the content may use a namespace from around it; true where that is unknown."""
        for text in content.split(b":"):  # noqa: SIM110 - a loop is quicker, and all content is looked at
            if text.endswith(self._prefixes):  # that of a default namespace is empty, so it is always found
                return True
        return False


def cut(data: bytes) -> Cut | None:
    """Return the parts of an envelope; None if it differs from most messages of a sequence."""
    at = data.find(_NUMBER_TAG)
    header_end = data.find(_HEADER_TAG, at)
    begin = data.find(b">", header_end + len(_HEADER_TAG)) + 1
    last = data.rfind(b"</")
    end = data.rfind(b"</", 0, last)
    if not (0 <= at < header_end < begin <= end) or begin > LONGEST:
        return None
    number = _DIGITS.match(data, at + len(_NUMBER_TAG))
    if number is None:
        return None
    at = data.find(_ID_TAG, 0, begin)
    if at < 0:
        frame = b"".join((data[: number.start()], _SOME_NUMBER, data[number.end() : begin], data[end:]))
        return Cut(frame, int(number[0]), "", data[begin:end])
    named = _PLAIN.match(data, at + len(_ID_TAG))
    if named is None:
        return None
    first, second = (number, named) if number.start() < at else (named, number)
    words = (_SOME_NUMBER, _SOME_ID) if first is number else (_SOME_ID, _SOME_NUMBER)
    between, behind = data[first.end() : second.start()], data[second.end() : begin]
    frame = b"".join((data[: first.start()], words[0], between, words[1], behind, data[end:]))
    return Cut(frame, int(number[0]), named[0].decode(), data[begin:end])


def stands_for(envelope: Envelope, frame: bytes) -> bool:
    """Return whether a framed envelope has its number and MessageID in the positions of the frame."""
    place, found = envelope.sequence, _SOME_ID.decode() if _ID_TAG in frame else ""
    is_found = place is not None and place.number == int(_SOME_NUMBER) and envelope.message_id == found
    # an element has two tags: if its name occurs only twice, nothing else is mistaken for it, as in a
    # comment
    is_sure = frame.count(_NUMBER_NAME) == 2 and frame.count(_ID_NAME) in (0, 2)
    return is_found and is_sure and envelope.body == Payload()


class Heads:
    """Counts frames, and keeps the heads of those that came twice."""

    def __init__(self) -> None:
        self._seen: set[bytes] = set()
        self._heads: dict[bytes, Head | None] = {}

    def get(self, frame: bytes) -> Head | None:
        """Return the head of a frame, if it is known."""
        return self._heads.get(frame)

    def is_wanted(self, frame: bytes) -> bool:
        """Record that an unknown frame came; return whether it came before, so that it is worth keeping."""
        if frame in self._heads:
            return False
        if frame in self._seen:
            return True
        if len(self._seen) >= MOST:
            self._seen.clear()
        self._seen.add(frame)
        return False

    def keep(self, frame: bytes, head: Head | None) -> None:
        """Keep the head of a frame; None for one whose messages are always read whole."""
        self._seen.discard(frame)
        if len(self._heads) >= MOST:
            self._heads.clear()
        self._heads[frame] = head
