"""A second parser of HTTPR bodies, written from the grammar of chapters 2, 5 and 6 alone.

It shares no line with the first one: it has the whole body before it, walks over it byte by byte and
knows no expressions, no buffers and no values of ours.  Where the list of readings is more lenient than
the grammar (part H), so is this.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

SEPARATORS = b'()<>@,;:\\"/[]?={} \t'
DIGITS = b"0123456789"
HEX = DIGITS + b"ABCDEFabcdef"
LETTERS = bytes(range(65, 91)) + bytes(range(97, 123))
BLANKS = b" \t"
NEVER = (1 << 63) - 1

COMMANDS = ["GET-RESPONDER-INFO", "PUSH", "PULL", "EXCHANGE", "REPORT"]
WITH_BATCH = ["PUSH", "EXCHANGE"]
IDS = ["transactionid", "completed", "last-pushed-id", "last-pulled-id", "forget"]
OF_REQUESTS = [
    *(
        "request",
        "requester",
        "channel",
        "responder",
        "sessionid",
        "session",
        "capabilities",
        "transactionid",
    ),
    *("outcome", "completed", "last-pushed-id", "forget", "agent-type", "error"),
]
OF_RESPONSES = [
    *("responder", "session", "sessionid", "capabilities", "transactionid", "last-pulled-id", "outcome"),
    *("completed", "agent-type", "error"),
]
FRAMING = ["message-size", "message-encoding"]
AMOUNTS = {
    "idle_session_interval": 10,
    "empty_batch_delay": 10_000,
    "max_latency": 100,
    "max_wait_next": 100,
    "max_wait_batch": 100,
    "maximum_message_size": 100_000_000,
    "maximum_batch_size": 10,
    "maximum_pipeline_depth": 1,
}
DEFAULTS = AMOUNTS | {"flows": {"PUSH", "PULL", "EXCHANGE"}, "session_support": {"SESSIONLESS"}}
"""What a request says by saying nothing."""
OTHER_NAMES = {"max_message_size": "maximum_message_size"} | dict.fromkeys(
    ["batch_size", "max_batch_limit"], "maximum_batch_size"
)


class Violation(Exception):
    """The body breaks the grammar."""


def demand(condition: bool, what: str) -> None:
    if not condition:
        raise Violation(what)


@dataclass
class Body:
    """All that a body says, under the names of the specification."""

    said: dict[str, Any] = field(default_factory=dict)
    product: list[tuple[str, str]] = field(default_factory=list)
    messages: list[tuple[str, bytes]] = field(default_factory=list)
    disposition: str = ""


class Walk:
    """A place in a body."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def peek(self, count: int = 1) -> bytes:
        return self.data[self.at : self.at + count]

    def take(self, count: int) -> bytes:
        demand(self.at + count <= len(self.data), "the body is cut off")
        self.at += count
        return self.data[self.at - count : self.at]

    def crlf(self) -> None:
        demand(self.take(2) == b"\r\n", f"a line end at {self.at}")

    def many(self, allowed: bytes) -> bytes:
        start = self.at
        while self.at < len(self.data) and self.data[self.at] in allowed:
            self.at += 1
        return self.data[start : self.at]

    def folds(self) -> bool:
        return self.peek(2) == b"\r\n" and len(self.peek(3)) == 3 and self.peek(3)[2] in BLANKS

    def token(self) -> bytes:
        start = self.at
        while self.at < len(self.data) and 32 < self.data[self.at] < 127:
            if self.data[self.at] in SEPARATORS:
                break
            self.at += 1
        demand(self.at > start, f"a token at {start}")
        return self.data[start : self.at]

    def lws(self) -> None:
        while self.peek() in (b" ", b"\t") or self.folds():
            self.at += 1 if self.peek() != b"\r" else 2

    def text(self, *, may_fold: bool = True) -> bytes:
        """Return TEXT up to a line end that ends no fold; each fold becomes a blank."""
        found = bytearray()
        while self.peek(2) != b"\r\n" or (may_fold and self.folds()):
            if may_fold and self.folds():
                self.lws_of_fold()
                found += b" "
            else:
                (octet,) = self.take(1)
                demand(octet == 9 or (octet >= 32 and octet != 127), f"a control at {self.at}")
                found.append(octet)
        return bytes(found)

    def lws_of_fold(self) -> None:
        while self.folds():
            self.at += 2
            self.many(BLANKS)

    def a_field(self) -> tuple[str, str, str]:
        """Return its name in lower case, its value, and the line as it was but for folds."""
        name = self.token().decode("ascii")
        self.lws()
        demand(self.take(1) == b":", f"a colon at {self.at}")
        value = self.text().decode("latin-1")
        self.crlf()
        return name.lower(), value.strip(" \t"), f"{name}:{value}\r\n"

    def fields(self) -> list[tuple[str, str, str]]:
        """Fields up to the blank line."""
        found = []
        while self.peek(2) != b"\r\n":
            found.append(self.a_field())
        self.crlf()
        return found


def request_body(data: bytes, *, largest: int, most: int) -> Body:
    """Return a request, 5.1 to 5.5."""
    walk, body = Walk(data), Body()
    fields = walk.fields()
    demand(bool(fields) and fields[0][0] == "request", "the first line is request")
    gather(body, fields, OF_REQUESTS)
    said = body.said
    if "sessionid" in said:
        demand("requester" not in said and "channel" not in said, "one of both forms")
        demand(said["request"] != COMMANDS[0], "no session has begun")
    else:
        demand("requester" in said and "channel" in said, "who uses which channel")
    if said["request"] == COMMANDS[0]:
        demand(said.get("session") == "begin", "a session begins")
    if said["request"] in WITH_BATCH:
        demand("transactionid" in said, "a unit of work has an id")
        payload(walk, body, largest, most)
    demand(walk.at == len(data), "nothing follows")
    return body


def response_body(data: bytes, *, largest: int, most: int) -> Body:
    """Parse the body of a response."""
    walk, body = Walk(data), Body()
    if data[:5].upper() == b"HTTPR" and b":" not in data[: data.index(b"\r\n") if b"\r\n" in data else None]:
        demand(walk.text(may_fold=False).strip(BLANKS).upper() == b"HTTPR/1.0", "the version")
        walk.crlf()
        body.said["version"] = "HTTPR/1.0"
    gather(body, walk.fields(), OF_RESPONSES)
    if "transactionid" in body.said:
        payload(walk, body, largest, most)
    elif body.said.get("error", (0, ""))[0] != 510:
        demand(walk.at == len(data), "nothing follows")
    return body


def gather(body: Body, fields: list[tuple[str, str, str]], known: list[str]) -> None:
    for name, text, _ in fields:
        if name == "hhttpr-user-module-data":
            body.product.append((name[1:], text))
        elif name not in known:
            body.product.append((name, text))
        else:
            value = meaning(name, text)
            if name == "capabilities" and known is OF_REQUESTS:
                value = DEFAULTS | value
            demand(body.said.get(name, value) == value, f"{name} twice")
            body.said[name] = value
    demand(("outcome" in body.said) == ("completed" in body.said), "outcome and completed")


def meaning(name: str, text: str) -> Any:
    """Return the value of a header field."""
    words = [word for word in text.replace("\t", " ").split(" ") if word]
    if name == "request":
        demand(len(words) == 2 and words[1].upper() == "HTTPR/1.0", "command and version")
        return one_of(COMMANDS, words[0].upper())
    if name in IDS:
        digits = "".join(words)
        demand(bool(digits) and all(ord(each) < 128 and ord(each) in HEX for each in digits), "16HEX")
        demand(int(digits, 16) < 1 << 64, "64 bits")
        return int(digits, 16)
    if name == "sessionid":
        demand(1 <= len(text) <= 12, "1 to 12")
        demand(all(ord(each) < 128 and ord(each) in LETTERS + DIGITS for each in text), "ALPHA or DIGIT")
        return text
    if name == "session":
        return one_of(["begin", "end"], text.lower())
    if name == "outcome":
        return one_of(["COMMIT", "ROLLBACK", "INDOUBT"], text.upper())
    if name == "capabilities":
        return capabilities(text)
    if name == "error":
        walk = Walk(text.encode("latin-1"))
        number, rest = walk.many(DIGITS), walk.data[walk.at :]
        demand(0 < len(number) < 10 and (not rest or rest[0] in BLANKS), "a number and a text")
        return int(number), rest.decode("latin-1").strip(" \t")
    demand(bool(text), f"{name} is empty")
    return text


def one_of(words: list[str], word: str) -> str:
    demand(word in words, f"one of {words}")
    return word


def capabilities(text: str) -> dict[str, Any]:
    """name = value, between `,` or `;`, or a name alone."""
    walk, found = Walk(text.encode("latin-1")), dict[str, Any]()
    while True:
        walk.many(BLANKS + b",;")
        if walk.at == len(walk.data):
            return found
        name = walk.token().decode("ascii").lower()
        name = OTHER_NAMES.get(name, name)
        walk.many(BLANKS)
        value = ""
        if walk.peek() in (b"=", b":"):
            walk.take(1)
            value = parameter(walk)
        demand(walk.peek() in (b"", b",", b";"), "a separator")
        worth = capability(name, value)
        demand(found.get(name, worth) == worth, f"{name} twice")
        found[name] = worth


def parameter(walk: Walk) -> str:
    """Return a quoted-string, or all up to the separator; quotes protect separators anywhere."""
    walk.many(BLANKS)
    start, quoted = walk.at, []
    while walk.peek() not in (b"", b",", b";"):
        if walk.peek() == b'"':
            quoted.append(a_quoted_string(walk))
        else:
            walk.take(1)
    raw = walk.data[start : walk.at].rstrip(BLANKS)
    whole = len(quoted) == 1 and raw[:1] == b'"' and quoted[0][1] == start + len(raw)
    return quoted[0][0] if whole else raw.decode("latin-1")


def a_quoted_string(walk: Walk) -> tuple[str, int]:
    """Return the text of a quoted-string, and where it ends."""
    walk.take(1)
    found = bytearray()
    while (octet := walk.take(1)) != b'"':
        found += walk.take(1) if octet == b"\\" else octet
    return found.decode("latin-1"), walk.at


def capability(name: str, value: str) -> Any:
    if name in AMOUNTS:
        demand(bool(value) and all(ord(each) < 128 and ord(each) in DIGITS for each in value), "1*DIGIT")
        return min(int(value.lstrip("0")[:30] or "0"), NEVER)
    lists = {"flows": ["PUSH", "PULL", "EXCHANGE"], "session_support": ["SESSIONLESS", "SESSION"]}
    if name not in lists:
        return value
    demand(all(ord(each) < 128 for each in value), "a list of tokens")
    words = {each.strip(" \t").upper() for each in value.split("+")} - {""}
    demand(bool(words) and words <= set(lists[name]), f"some of {lists[name]}")
    return words


def payload(walk: Walk, body: Body, largest: int, most: int) -> None:
    """Parse a payload, *Payload Terminator, 6.2."""
    while not body.disposition:
        start = walk.at
        name = walk.token().lower()
        if name == b"payload-disposition":
            walk.lws()
            demand(walk.take(1) == b":", "a colon")
            walk.lws()
            word = walk.text(may_fold=False).rstrip(BLANKS).decode("latin-1").lower()
            body.disposition = one_of(["last", "abort"], word)
            walk.crlf()
            demand(walk.at == len(walk.data), "nothing follows")
        else:
            walk.at = start
            demand(len(body.messages) < most, "too many messages")
            body.messages.append(message(walk, largest))


def message(walk: Walk, largest: int) -> tuple[str, bytes]:
    fields = walk.fields()
    framing = {
        (name, value.lower()) for name, value, _ in fields if name in ("message-size", "message-encoding")
    }
    demand(fields[0][0] in ("message-size", "message-encoding") and len(framing) == 1, "one size, first")
    header = "".join(line for name, _, line in fields if name not in ("message-size", "message-encoding"))
    ((name, value),) = framing
    if name == "message-encoding":
        demand(value == "chunked", "chunked")
        data = chunks(walk, largest)
        if walk.peek() == b"\r":
            walk.crlf()
        return header, data
    demand(bool(value) and all(ord(each) < 128 and ord(each) in DIGITS for each in value), "1*DIGIT")
    demand(len(value.lstrip("0")) < 20 and int(value.lstrip("0") or "0") <= largest, "too large")
    data = walk.take(int(value))
    walk.crlf()
    return header, data


def chunks(walk: Walk, largest: int) -> bytes:
    """Return the data of a Chunked-Body, 6.2.15."""
    data = bytearray()
    while True:
        size = walk.many(HEX)
        demand(bool(size), "chunk-size")
        walk.many(BLANKS)
        if walk.peek() == b";":
            walk.text(may_fold=False)
        walk.crlf()
        if not int(size, 16):
            walk.fields()
            return bytes(data)
        demand(len(data) + int(size, 16) <= largest, "too large")
        data += walk.take(int(size, 16))
        walk.crlf()
