"""Reads bodies of requests and responses while they arrive, with equal results for any division of the bytes.

    header --no batch-----------------------------------.
      |                                                 v
    messages --payload-disposition------------------> nothing may follow
      |  ^
      |  |
      +--+-- sized: data and CRLF
      |  |
      '--+-- chunked: chunk size <--> chunk
         |               | 0
         '-- CRLF <-- trailer

Each box is a step of the reader; a step that lacks bytes is repeated when more have arrived.
A message that has arrived completely, and whose header is formatted as we format it, is found with one
regular expression.  If its header differs from the header before only in digits, only the digits are read.
Messages of more than LARGE bytes are returned in pieces; one that exceeds the limit is refused before its
data is kept (F-06).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Final

import msgspec

from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.headers import (
    MOST_BYTES,
    fields_of,
    is_request,
    lines_of,
    not_httpr,
    read_field,
    read_request,
    read_response,
)
from reliquary.protocols.httpr.codec.lexical import (
    CRLF,
    LWS,
    TEXT,
    TOKEN,
    malformed,
    read_number,
    shortened,
)
from reliquary.protocols.httpr.codec.values import (
    SENDS,
    BatchLimits,
    Carried,
    Disposition,
    ErrorNumber,
    RequestHeader,
    ResponseHeader,
)

LARGE: Final = 1024 * 1024
"""A message of more bytes is returned in pieces."""
SMALL: Final = 4 * 1024
IN_MEMORY: Final = 16 * 1024 * 1024
"""The bytes of a batch that are returned whole; beyond them all but small messages are returned in pieces."""
PIECE: Final = 256 * 1024
"""The bytes of each piece but the last."""
MOST_MESSAGE_HEADER: Final = 2 * 1024 * 1024
"""The most bytes of a message's header; applications may keep much in it."""
MOST_MESSAGE_FIELDS: Final = 400
MOST_LONG_HEADERS: Final = 16 * 1024 * 1024
"""The most bytes of all headers of a batch that are longer than usual."""
MOST_LINE: Final = 4096
"""The most bytes of a chunk's size with its extensions, or of the terminator."""

_END: Final = b"\r\n"
_BLANK: Final = b"\r\n\r\n"
_USUAL: Final = 4 * MOST_MESSAGE_FIELDS
"""The largest usual header of a message in bytes; a header of this size cannot exceed MOST_MESSAGE_FIELDS."""
_SIZE: Final = "message-size"
_ENCODING: Final = "message-encoding"
_FRAMING: Final = frozenset({_SIZE, _ENCODING})

_DISPOSITIONS: Final = {each.value: each for each in Disposition}
_NAMES: Final = (b"message-size", b"message-encoding", b"payload-disposition")
"""The fields that may stand where a message can begin; the last of them is the terminator."""
_CANONICAL: Final = re.compile(
    rf"message-size:([0-9]{{1,18}})\r\n"
    rf"((?:(?!(?i:{_SIZE}|{_ENCODING})[ \t:]){TOKEN}:{TEXT}\r\n)*)\r\n".encode()
).match
"""The usual header of a message: its size, then fields of one line each."""
_SIZE_AT: Final = len(_SIZE) + 1
_DIGITS_ALIKE: Final = bytes(ord("0") if chr(byte).isdecimal() else byte for byte in range(256))
"""Translates all digits to 0: two headers that are equal afterwards have one form and one length."""
_TERMINATOR: Final = re.compile(
    rb"payload-disposition(?:(?:\r\n)?[ \t])*:(?:(?:\r\n)?[ \t])*([^\r\n \t][^\r\n]*)\r\n", re.IGNORECASE
)
_CHUNK_LINE: Final = re.compile(rf"([0-9A-Fa-f]+)[ \t]*(?:;{TEXT})?".encode())


class BodyIncomplete(Exception):
    """The body ended before its terminator, so that all parts read from it are void (HR-117)."""


class HeaderRead(msgspec.Struct, frozen=True):
    """The header of the request or response was read; this is always the first part."""

    header: RequestHeader | ResponseHeader


class LargeBegun(msgspec.Struct, frozen=True):
    """The header of a large message was read; its data follows in pieces."""

    header: str
    """The header fields, as in `Carried`."""
    size: int | None
    """The declared size; None for a chunked message."""


class LargePiece(msgspec.Struct, frozen=True):
    """The next bytes of a large message."""

    data: bytes


class LargeEnded(msgspec.Struct, frozen=True):
    """The last piece of a large message was read; the message is complete."""


class BatchEnded(msgspec.Struct, frozen=True):
    """The terminator was read; any further byte is an error."""

    disposition: Disposition


BodyPart = HeaderRead | Carried | LargeBegun | LargePiece | LargeEnded | BatchEnded
"""The parts of a body; `Carried` is a message that was not too large to be returned in one piece."""


class _Reader:
    """The base of the readers of requests and responses, which differ in their headers."""

    def __init__(self) -> None:
        self.done = False
        """Whether the body is complete; no bytes may follow."""
        self._buffer = b""
        """Bytes that have arrived; those before `_at` are parsed."""
        self._at = 0
        self._searched = 0
        """The position up to which no blank line was found."""
        self._long = bytearray()
        """A long header that is incomplete; it replaces the buffer, which each arrival would copy."""
        self._longest = 0
        self._step: Callable[[Any, list[BodyPart]], bool] = type(self)._read_header
        """The next step of parsing; it returns whether it made progress."""
        self._limits = BatchLimits(0, 0)
        self._messages = 0
        self._buffered = 0
        """The bytes of the messages that were returned in one piece."""
        self._long_headers = 0
        # of the message that is being read:
        self._header = ""
        self._missing = 0
        """The bytes of the message, or of its chunk, that have not arrived."""
        self._announced = 0
        """The announced bytes of the message, of all chunks so far."""
        self._most = 0
        """The largest size at which a message is returned in one piece."""
        self._large = False
        self._data = bytearray()
        """The bytes of the message that were not returned yet."""

    def feed(self, data: bytes | memoryview) -> list[BodyPart]:
        """Return the parts that these bytes complete.

        After a fault, all parts that this reader returned are void, except the header.
        """
        if self._long:
            self._long += data
            if self._long.find(_BLANK, self._searched) < 0 and len(self._long) <= self._longest:
                self._searched = len(self._long) - len(_BLANK) + 1
                return []
            self._buffer, self._long = bytes(self._long), bytearray()
        elif self._at < len(self._buffer):
            self._buffer = self._buffer[self._at :] + data
            self._searched -= self._at
        else:
            self._buffer = bytes(data)  # without a copy if they are `bytes` already
            self._searched = 0
        self._at = 0
        found: list[BodyPart] = []
        while self._at < len(self._buffer) and self._step(self, found):
            pass
        return found

    def end(self) -> None:
        """Check at the end of the bytes that the body is complete."""
        if not self.done:
            raise BodyIncomplete("the body ended before its last message was complete")

    def _read_header(self, found: list[BodyPart]) -> bool:
        raise NotImplementedError

    def _finish(self) -> bool:
        self.done = True
        self._step = _Reader._refuse_more
        return True

    def _refuse_more(self, found: list[BodyPart]) -> bool:
        raise malformed("bytes follow the end of the body", "6.2.16")

    # -- messages

    def _read_messages(self, found: list[BodyPart]) -> bool:
        """Read all complete messages of the usual form, then the terminator or the header of another one."""
        buffer, at, room = self._buffer, self._at, self._limits.messages - self._messages
        largest, budget = min(self._limits.message_bytes, LARGE), IN_MEMORY - self._buffered
        before = len(found)
        if self._searched > at and buffer.find(_BLANK, self._searched) < 0:
            room = 0  # a header is incomplete: it is not parsed again for each byte that arrives
        usual, length, fields_at = b"", 0, 0  # the form of the header before
        while room > 0:
            head = buffer[at : at + length]
            if not length or head.translate(_DIGITS_ALIKE) != usual:
                match = _CANONICAL(buffer, at, at + _USUAL)
                if match is None:
                    break
                head, length, fields_at = match[0], match.end() - at, match.start(2) - at
                usual = head.translate(_DIGITS_ALIKE)
            start = at + length
            stop = start + int(head[_SIZE_AT : fields_at - 2])
            if buffer[stop : stop + 2] != _END or stop - start > largest or stop - start > budget:
                break
            found.append(Carried(head[fields_at:-2].decode("latin-1"), buffer[start:stop]))
            budget -= stop - at
            at = stop + 2
            room -= 1
        self._messages += len(found) - before
        self._buffered = IN_MEMORY - budget
        self._at = at
        return at < len(buffer) and (self._read_terminator(found) or self._read_message_header(found))

    def _read_terminator(self, found: list[BodyPart]) -> bool:
        match = _TERMINATOR.match(self._buffer, self._at)
        if match is None:
            self._refuse_what_begins_nothing()
            return False
        stop = match.end()
        if stop - self._at > MOST_LINE:
            raise _endless_terminator()
        word = match[1].decode("latin-1").rstrip(LWS).lower()
        if word not in _DISPOSITIONS:
            raise malformed(f"payload-disposition is last or abort, not {shortened(word)}", "6.2.16")
        self._at = stop
        found.append(BatchEnded(_DISPOSITIONS[word]))
        return self._finish()

    def _refuse_what_begins_nothing(self) -> None:
        """Refuse bytes that can begin neither a message nor a terminator, before all of them have arrived."""
        head = self._buffer[self._at : self._at + len(_NAMES[-1])].lower()
        if not any(name.startswith(head[: len(name)]) for name in _NAMES):
            raise malformed(f"{shortened(head.decode('latin-1'))} begins no message", "6.2.1")
        if head == _NAMES[-1] and len(self._buffer) - self._at > MOST_LINE:
            raise _endless_terminator()

    def _read_message_header(self, found: list[BodyPart]) -> bool:
        block = self._block(MOST_MESSAGE_HEADER)
        if block is None:
            return False
        if len(block) > _USUAL:
            self._long_headers += len(block)
            if self._long_headers > MOST_LONG_HEADERS:
                raise malformed(
                    f"long headers have at most {MOST_LONG_HEADERS} bytes together, not {self._long_headers}",
                    "6.2",
                )
        self._header, size = _message_header(block)
        self._messages += 1
        if self._messages > self._limits.messages:
            raise HttprFault(
                ErrorNumber.MAXIMUM_BATCH_SIZE_EXCEEDED,
                f"a batch has at most {self._limits.messages} messages, not {self._messages} or more",
                spec="HTTPR 6.1.5",
            )
        self._announced, self._large = 0, False
        self._most = min(LARGE, max(SMALL, IN_MEMORY - self._buffered))
        self._buffered += len(block)
        if size is None:
            self._step = _Reader._read_chunk_size
        else:
            self._announce(size)
            self._large = size > self._most
            if self._large:
                found.append(LargeBegun(self._header, size))
            self._step = _Reader._read_sized
        return True

    def _announce(self, size: int) -> None:
        """Expect this number of bytes; a message that is too large is refused before they are kept (F-06)."""
        self._missing = size
        self._announced += size
        if self._announced > self._limits.message_bytes:
            raise HttprFault(
                ErrorNumber.MAXIMUM_MESSAGE_SIZE_EXCEEDED,
                f"a message has at most {self._limits.message_bytes} bytes, and this one announces more",
                spec="HTTPR 6.1.5",
            )

    def _block(self, limit: int) -> bytes | None:
        """Return the next header block with its blank line; None while it is incomplete."""
        end = self._buffer.find(_BLANK, max(self._at, self._searched))
        stop = len(self._buffer) if end < 0 else end + len(_BLANK)
        if stop - self._at > limit:
            raise malformed(
                f"a header has at most {limit} bytes, this one has {stop - self._at} or more", "2.3"
            )
        if end < 0:
            self._searched = max(self._at, stop - len(_BLANK) + 1)
            if stop - self._at > MOST_LINE:
                self._long, self._longest = bytearray(self._buffer[self._at :]), limit
                self._searched -= self._at
                self._buffer, self._at = b"", 0
            return None
        block = self._buffer[self._at : stop]
        self._at = stop
        return block

    # -- data

    def _read_sized(self, found: list[BodyPart]) -> bool:
        if not self._read_data(found):
            return False
        self._give(found)
        self._step = _Reader._read_messages
        return True

    def _read_chunk_size(self, found: list[BodyPart]) -> bool:
        end = self._buffer.find(_END, self._at)
        if (len(self._buffer) if end < 0 else end) - self._at > MOST_LINE:
            raise malformed(f"the first line of a chunk has more than {MOST_LINE} bytes", "6.2.15")
        if end < 0:
            return False
        match = _CHUNK_LINE.fullmatch(self._buffer, self._at, end)
        if match is None:
            line = self._buffer[self._at : end].decode("latin-1")
            raise malformed(f"a chunk begins with its size, not {shortened(line)}", "6.2.15")
        self._at = end + len(_END)
        self._announce(int(match[1], 16))
        self._step = _Reader._read_chunk if self._missing else _Reader._read_trailer
        return True

    def _read_chunk(self, found: list[BodyPart]) -> bool:
        if not self._read_data(found):
            return False
        self._step = _Reader._read_chunk_size
        return True

    def _read_trailer(self, found: list[BodyPart]) -> bool:
        """Read the fields of a trailer: they are checked for their form and ignored."""
        if len(self._buffer) - self._at < len(_END):
            return False
        if self._buffer.startswith(_END, self._at):
            self._at += len(_END)
        else:
            block = self._block(MOST_BYTES)
            if block is None:
                return False
            fields_of(block)
        self._give(found)
        self._step = _Reader._read_end_of_chunks
        return True

    def _read_end_of_chunks(self, found: list[BodyPart]) -> bool:
        """Read the end of the message; after the end of its chunks it may be missing (H-18)."""
        if self._buffer[self._at] == _END[0]:
            if len(self._buffer) - self._at < len(_END):
                return False
            self._read_end()
        self._step = _Reader._read_messages
        return True

    def _read_data(self, found: list[BodyPart]) -> bool:
        """Read the missing bytes that are there, and the CRLF after them; return whether the data
        is complete.
        """
        stop = min(self._at + self._missing, len(self._buffer))
        if stop > self._at:
            self._data += memoryview(self._buffer)[self._at : stop]
            self._missing -= stop - self._at
            self._at = stop
            self._give_pieces(found)
        if self._missing or len(self._buffer) - stop < len(_END):
            return False
        self._read_end()
        return True

    def _read_end(self) -> None:
        if not self._buffer.startswith(_END, self._at):
            raise malformed("no CRLF follows the data: its length is not the announced one", "6.2.15")
        self._at += len(_END)

    def _give_pieces(self, found: list[BodyPart]) -> None:
        if not self._large:
            if len(self._data) <= self._most:
                return
            self._large = True  # the size of a chunked message is not known before
            found.append(LargeBegun(self._header, None))
        while len(self._data) >= PIECE:
            found.append(LargePiece(bytes(memoryview(self._data)[:PIECE])))
            del self._data[:PIECE]

    def _give(self, found: list[BodyPart]) -> None:
        """Append the completed message to `found`."""
        if not self._large:
            self._buffered += len(self._data)
            found.append(Carried(self._header, bytes(self._data)))
        else:
            if self._data:
                found.append(LargePiece(bytes(self._data)))
            found.append(LargeEnded())
        self._data = bytearray()


class RequestReader(_Reader):
    """Reads the body of a request."""

    def __init__(
        self, limits_for: Callable[[RequestHeader], BatchLimits], *, lenient: bool = False
    ) -> None:  # fmt: skip
        super().__init__()
        self.header: RequestHeader | None = None
        """Not None after the header was read, even if the rest has an error."""
        self._limits_for = limits_for
        self._lenient = lenient

    def _read_header(self, found: list[BodyPart]) -> bool:
        head = self._buffer[:7].lower()
        if not b"request".startswith(head):
            raise not_httpr()
        block = self._block(MOST_BYTES)
        if block is None:
            return False
        self.header = read_request(block, lenient=self._lenient)
        found.append(HeaderRead(self.header))
        if self.header.command not in SENDS:
            return self._finish()
        self._limits = self._limits_for(self.header)
        self._step = _Reader._read_messages
        return True

    def end(self) -> None:
        """Check at the end of the bytes that the body is complete and that it is HTTPR."""
        if self.done:
            return
        if self.header is None and not is_request(self._long or self._buffer):
            raise not_httpr()
        super().end()


class ResponseReader(_Reader):
    """Reads the body of a response, which has a batch if its header has a transaction id."""

    def __init__(self, limits: BatchLimits) -> None:
        super().__init__()
        self.header: ResponseHeader | None = None
        """Not None after the header was read, even if the rest has an error."""
        self._limits = limits

    def _read_header(self, found: list[BodyPart]) -> bool:
        if self._buffer[0] == _END[0]:  # the header is empty: a pipelined response may omit all fields
            if len(self._buffer) < len(_END):
                return False
            self._read_end()
            block: bytes | None = _END
        else:
            block = self._block(MOST_BYTES)
        if block is None:
            return False
        self.header = read_response(block)
        found.append(HeaderRead(self.header))
        if self.header.transaction_id is not None:
            self._step = _Reader._read_messages
            return True
        self._finish()
        if self.header.error and self.header.error.number == ErrorNumber.INCOMPATIBLE:
            self._step = ResponseReader._pass_over
        return True

    def _pass_over(self, found: list[BodyPart]) -> bool:
        """Ignore all further bytes, because error 510 may be explained by a payload of any form, 5.6."""
        self._at = len(self._buffer)
        return True


def _endless_terminator() -> HttprFault:
    return malformed(f"a terminator has at most {MOST_LINE} bytes, this one has more", "6.2.16")


def _message_header(block: bytes) -> tuple[str, int | None]:
    """Return the fields of a message without those of its length, and its size; None for a chunked one."""
    framing: set[tuple[str, str]] = set()
    kept = []
    for place, line in enumerate(lines_of(block, MOST_MESSAGE_FIELDS)):
        name, value = read_field(line)
        if name in _FRAMING:
            framing.add((name, value.lower()))
        elif place == 0:
            raise malformed(
                f"a message begins with message-size or message-encoding, not {shortened(line)}", "6.2.1"
            )
        else:
            kept.append(f"{line[: len(name)]}:{line.partition(':')[2]}{CRLF}")
    if len(framing) > 1:
        raise malformed("a message has both message-size and message-encoding, or two values of one", "6.2.1")
    (name, value), *_ = framing
    if name == _SIZE:
        return "".join(kept), read_number(value, name, "6.2.2")
    if value != "chunked":
        raise malformed(f"message-encoding is chunked, not {shortened(value)}", "6.2.1")
    return "".join(kept), None
