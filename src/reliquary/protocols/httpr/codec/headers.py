"""Reads and writes headers of requests and responses, 5.1 to 5.6 and 6.1: `name:value` lines, a blank line.

    request:PUSH HTTPR/1.0               HTTPR/1.0                        only after GET-RESPONDER-INFO
    sessionid:1                          responder:httpr://host/service
    transactionid:0000000000000001       sessionid:1
                                         outcome:COMMIT
                                         completed:0000000000000000

Written in the order of the grammar, lower case, no blank after the colon.  Read in any order and case,
with blanks and folded lines; a field may come twice with one value (H-38), and unknown fields are kept
as fields of a product (HR-106).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any, Final

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.codec.capabilities import read_capabilities, said, text_of
from reliquary.protocols.httpr.codec.faults import HttprFault
from reliquary.protocols.httpr.codec.lexical import (
    CRLF,
    LWS,
    TEXT,
    TOKEN,
    id_text,
    malformed,
    read_id,
    read_number,
    shortened,
    unfolded,
)
from reliquary.protocols.httpr.codec.values import (
    FLOWS,
    SENDS,
    VERSION,
    Capabilities,
    Command,
    Error,
    ErrorNumber,
    Fields,
    Outcome,
    RequestHeader,
    ResponseHeader,
    SessionMark,
)

MOST_BYTES: Final = 64 * 1024
"""The largest header block with its blank line; folded lines count as they came."""
MOST_FIELDS: Final = 200
USER_MODULE_DATA: Final = "httpr-user-module-data"
"""The field of error 527; the text prints it with a doubled h, which is accepted too (H-20)."""

_FIELD: Final = re.compile(rf"({TOKEN})[ \t]*:({TEXT})").fullmatch
_NAME: Final = re.compile(TOKEN).fullmatch
_BEGINS: Final = re.compile(rb"request(?:(?:\r\n)?[ \t])*:", re.IGNORECASE)
_SESSION_ID: Final = re.compile(r"[0-9A-Za-z]{1,12}")
_OTHER_VERSION: Final = re.compile(r"HTTPR/[0-9]+\.[0-9]+", re.IGNORECASE)
_COMMANDS: Final = {f"{command.value} {VERSION}": command for command in Command}
_WORD: Final = re.compile(r"[^ \t]+")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_ERROR: Final = re.compile(r"([0-9]{1,9})(?:[ \t]+(.*))?")


# -- reading: lines


def lines_of(block: bytes, most: int) -> list[str]:
    """Return the lines of a block that ends with its blank line, folded ones as one."""
    lines = unfolded(block).decode("latin-1").split(CRLF)
    if len(lines) - 2 > most:
        raise malformed(f"the header has more than {most} fields", "2.3")
    if len(lines) < 3 or lines[-2:] != ["", ""]:
        raise malformed("the header does not end with a blank line", "2.3")
    return lines[:-2]


def fields_of(block: bytes) -> list[tuple[str, str]]:
    """Return names in lower case, and values without blanks around them."""
    return [read_field(line) for line in lines_of(block, MOST_FIELDS)]


def read_field(line: str) -> tuple[str, str]:
    """Return one line as name and value."""
    found = _FIELD(line)
    if found is None:
        raise malformed(f"{shortened(line)} is not a field: a name, a colon and a value", "2.3")
    name, value = found.groups()
    return name.lower(), value.strip(LWS)


def _bounded(block: bytes) -> None:
    if len(block) > MOST_BYTES:
        raise malformed(f"the header has {len(block)} bytes; at most {MOST_BYTES} are allowed", "5")


def _version(text: str) -> str:
    """Return our version, or raise a fault that names the wrong part (HR-086)."""
    if text.upper() == VERSION:
        return VERSION
    if _OTHER_VERSION.fullmatch(text):
        raise HttprFault(
            ErrorNumber.HTTP_R_VERSION_NOT_SUPPORTED,
            f"the version is {shortened(text)}, and only {VERSION} is supported",
            spec="HTTPR 6.1.1",
        )
    raise malformed(f"{shortened(text)} is not a version such as {VERSION}", "6.1.1")


# -- reading: values


def _text(value: str, name: str) -> str:
    if not value:
        raise malformed(f"{name} is empty", "6.1")
    return value


def _id(value: str, name: str) -> int:
    return read_id(_text(value, name))


def _session_id(value: str, name: str) -> str:
    if not _SESSION_ID.fullmatch(value):
        raise malformed(f"{name} has 1 to 12 letters and digits, it is {shortened(value)}", "6.1.6")
    return value


def _session(value: str, name: str) -> SessionMark:
    try:
        return SessionMark(value.lower())
    except ValueError:
        raise malformed(f"{name} is begin or end, not {shortened(value)}", "3.6") from None


def _outcome(value: str, name: str) -> Outcome:
    try:
        return Outcome(value.upper())
    except ValueError:
        raise malformed(f"{name} is COMMIT, ROLLBACK or INDOUBT, not {shortened(value)}", "6.2.17") from None


def _command(value: str, name: str) -> Command:
    return _COMMANDS.get(value) or _unusual_command(_WORD.findall(value), value)


def _command_alone(value: str, name: str) -> Command:
    words = _WORD.findall(value)
    return _unusual_command([*words, VERSION] if len(words) == 1 else words, value)


def _unusual_command(words: list[str], value: str) -> Command:
    """Return the command of an unusual spelling.

    Another version and malformed text get different errors (HR-003).
    """
    if len(words) != 2:
        raise malformed(f"a request is a command and a version, not {shortened(value)}", "5")
    command, version = words
    _version(version)
    found = _COMMANDS.get(f"{command.upper()} {VERSION}")
    if found is None:
        raise malformed(f"{shortened(command)} is not a command of HTTPR", "5")
    return found


def _error(value: str, name: str) -> Error:
    found = _ERROR.fullmatch(value)
    if found is None:
        raise malformed(f"{name} is a number and a text, not {shortened(value)}", "6.2.18")
    return Error(read_number(found[1], name, "6.2.18"), found[2] or "")


_Read = Callable[[str, str], Any]
_BOTH: Final[dict[str, tuple[str, _Read]]] = {
    "responder": ("responder", _text),
    "sessionid": ("session_id", _session_id),
    "session": ("session", _session),
    "transactionid": ("transaction_id", _id),
    "outcome": ("outcome", _outcome),
    "completed": ("completed", _id),
    "agent-type": ("agent_type", _text),
    "error": ("error", _error),
}
_REQUEST: Final[dict[str, tuple[str, _Read]]] = {
    **_BOTH,
    "request": ("command", _command),
    "requester": ("requester", _text),
    "channel": ("channel", _text),
    "capabilities": ("capabilities", lambda value, _: read_capabilities(value)),
    "last-pushed-id": ("last_pushed_id", _id),
    "forget": ("forget", _id),
}
_LENIENT: Final = {**_REQUEST, "request": ("command", _command_alone)}
_RESPONSE: Final[dict[str, tuple[str, _Read]]] = {
    **_BOTH,
    "capabilities": ("capabilities", lambda value, _: said(value)),
    "last-pulled-id": ("last_pulled_id", _id),
}


def _values(fields: list[tuple[str, str]], known: dict[str, tuple[str, _Read]]) -> dict[str, Any]:
    """Return the arguments of a header; differing values of one field are malformed."""
    values: dict[str, Any] = {}
    product = []
    for name, text in fields:
        if name in known:
            attribute, read = known[name]
            value = read(text, name)
            if values.setdefault(attribute, value) != value:
                raise malformed(f"the field {name} occurs twice with different values", "6.1")
        else:
            product.append((USER_MODULE_DATA if name == f"h{USER_MODULE_DATA}" else name, text))
    if ("outcome" in values) != ("completed" in values):
        raise malformed("a header has outcome or completed, and not both", "5.2")
    values["product"] = tuple(product)
    return values


# -- reading: requests and responses


def is_request(block: bytes | bytearray) -> bool:
    """Return whether the first line is `request:`; the rest of the block is not examined."""
    return _BEGINS.match(block) is not None


def not_httpr() -> HttprFault:
    """Return error 519 for a body that is not HTTPR (H-21)."""
    return HttprFault(ErrorNumber.NOT_HTTP_R, "the first line is not `request:`", spec="HTTPR 5.6")


def read_request(block: bytes, *, lenient: bool = False) -> RequestHeader:
    """Return the header of a request, which ends with its blank line.

    If `lenient`, the version may be missing, as in the examples of chapter 4 (H-01).
    """
    usual = _USUAL_REQUEST(block)
    if usual is not None:
        return _usual_request(usual)
    _bounded(block)
    if not is_request(block):
        raise not_httpr()
    header = RequestHeader(**_values(fields_of(block), _LENIENT if lenient else _REQUEST))
    _check(header)
    return header


_GET_RESPONDER_INFO: Final = Command.GET_RESPONDER_INFO
_FLOWS: Final = {command.value.encode(): command for command in FLOWS}
_USUAL_REQUEST: Final = re.compile(
    rf"request:({'|'.join(command.value for command in FLOWS)}) {re.escape(VERSION)}\r\n"
    r"sessionid:([0-9A-Za-z]{1,12})\r\n"
    r"(?:transactionid:([0-9A-F]{16})\r\n)?"
    r"(?:outcome:COMMIT\r\ncompleted:([0-9A-F]{16})\r\n)?\r\n".encode()
).fullmatch
"""The usual header of a request in a session, as we write it."""


def _usual_request(found: re.Match[bytes]) -> RequestHeader:
    command, session_id, transaction_id, completed = found.groups()
    header = RequestHeader(
        command=_FLOWS[command],
        session_id=session_id.decode(),
        transaction_id=None if transaction_id is None else int(transaction_id, 16),
        outcome=None if completed is None else Outcome.COMMIT,
        completed=None if completed is None else int(completed, 16),
    )
    _check(header)
    return header


def _check(header: RequestHeader) -> None:
    """Check that the fields which a command requires are present."""
    if header.session_id:
        if header.requester or header.channel:
            raise malformed("a request has a sessionid, or requester and channel, not both", "5.2")
    elif not (header.requester and header.channel):
        raise malformed("a request without a session must name requester and channel", "5.1")  # HR-061
    if header.command is _GET_RESPONDER_INFO:
        if header.session_id or header.session is not SessionMark.BEGIN:
            raise malformed("GET-RESPONDER-INFO must begin a session", "5.1")
    elif header.command in SENDS and header.transaction_id is None:
        raise malformed(f"{header.command.value} must have a transactionid", "5.2")


def read_response(block: bytes) -> ResponseHeader:
    """Return the header of a response with its blank line; the version may open any response (H-02)."""
    _bounded(block)
    version = ""
    line, _, rest = block.partition(b"\r\n")
    if line[:5].upper() == b"HTTPR" and b":" not in line:
        version = _version(line.decode("latin-1").strip(LWS))
        block = rest
    # an empty header is its blank line alone
    fields = [] if block == b"\r\n" else fields_of(block)
    return ResponseHeader(version=version, **_values(fields, _RESPONSE))


# -- writing


def encode_request(header: RequestHeader) -> bytes:
    """Return the header of a request, with the blank line."""
    informs = header.command is Command.GET_RESPONDER_INFO
    return _block(
        f"request:{header.command.value} {header.version}",
        ("requester", header.requester),
        ("channel", header.channel),
        ("responder", header.responder),
        ("sessionid", header.session_id),
        ("session", header.session and header.session.value),
        ("capabilities", _capabilities_text(header.capabilities)),
        ("transactionid", header.transaction_id is not None and id_text(header.transaction_id)),
        ("agent-type", informs and header.agent_type),
        ("outcome", header.outcome and header.outcome.value),
        ("completed", header.completed is not None and id_text(header.completed)),
        ("last-pushed-id", header.last_pushed_id is not None and id_text(header.last_pushed_id)),
        ("forget", header.forget is not None and id_text(header.forget)),
        ("agent-type", not informs and header.agent_type),
        ("error", _error_text(header.error)),
        product=header.product,
    )


def encode_response(header: ResponseHeader) -> bytes:
    """Return the header of a response, with the blank line."""
    outcome, completed = header.outcome, header.completed
    if outcome and completed is not None and header == ResponseHeader(outcome=outcome, completed=completed):
        return f"outcome:{outcome.value}{CRLF}completed:{id_text(completed)}{CRLF}{CRLF}".encode()
    informs = bool(header.version) or header.last_pulled_id is not None
    return _block(
        header.version,
        ("responder", header.responder),
        ("session", header.session and header.session.value),
        ("sessionid", header.session_id),
        ("capabilities", _capabilities_text(header.capabilities)),
        ("transactionid", header.transaction_id is not None and id_text(header.transaction_id)),
        ("last-pulled-id", header.last_pulled_id is not None and id_text(header.last_pulled_id)),
        ("agent-type", informs and header.agent_type),
        ("outcome", header.outcome and header.outcome.value),
        ("completed", header.completed is not None and id_text(header.completed)),
        ("agent-type", not informs and header.agent_type),
        ("error", _error_text(header.error)),
        product=header.product,
    )


def _capabilities_text(capabilities: Capabilities | Fields | None) -> str | None:
    return None if capabilities is None else text_of(capabilities)


def _error_text(error: Error | None) -> str | None:
    return None if error is None else f"{error.number} {error.text}".rstrip()


def _block(first: str, *fields: tuple[str, str | bool | None], product: Fields) -> bytes:
    lines = [first] if first else []
    lines += [f"{name}:{value}" for name, value in fields if value]
    lines += _product_lines(product)
    if _CONTROL.search("".join(lines)):
        raise UsageError("a header has no line ends or other controls in its values")
    try:
        return (CRLF.join(lines) + CRLF * (2 if lines else 1)).encode("latin-1")
    except UnicodeEncodeError as why:
        raise UsageError(f"a header has characters of Latin-1 only: {why}") from None


def _product_lines(product: Fields) -> Iterable[str]:
    """Yield the lines of product fields, without blank and empty ones (HR-124)."""
    for name, value in product:
        if not (_NAME(name) and value.strip(LWS)):
            raise UsageError(f"{shortened(f'{name}:{value}')} is not a field: a name, a colon and a value")
        yield f"{name}:{value}"
