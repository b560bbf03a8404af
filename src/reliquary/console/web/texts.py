"""Converts texts of the nouns of administration for pages.

The declarations are written for the command line: they mark names of fields with backticks, and call the key
of a record by the name of its argument, such as NAME.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any, Final

from markupsafe import Markup, escape

from reliquary.queueing.model.administration import Noun, Parameter

EMPTY: Final = {
    "outgoing": "An outgoing queue appears when a message is sent to a queue of another manager.",
    "transactions": "A transaction is here from its begin to its end.",
    "streams": "A stream appears when a transaction sends to another manager by SRMP or MQQB, or one there"
    " sends here.",
    "channels": "A channel appears when an agent of HTTPR connects, or when a message is sent to"
    " httpr://host/service.",
    "sequences": "A sequence appears when a service or a client of WS-ReliableMessaging sends here, or when a"
    " message is sent to wsrm://host/service.",
    "rpc": "An association appears while another manager reads a queue here by MQQP, or a queue there is read"
    " from here. Reads of others are off unless enabled = true stands in [mqqp].",
    "sessions": "A session appears while this manager is connected to another one by MQQB. It is off unless"
    " enabled = true stands in [mqqb].",
    "writers": "A writer appears when Spark has published its first batch to a queue.",
}
"""The sentences for empty pages, about when records appear, by the plural of their noun."""

DONE: Final = {
    "abort": "was aborted",
    "close": "was closed",
    "commit": "was committed",
    "forget": "was forgotten",
    "pause": "was paused",
    "report": "asks its responder now",
    "reset": "was reset",
    "resume": "was resumed",
    "settle": "was settled",
    "terminate": "was terminated",
}
"""The effect of an act on a record, by the verb of the act."""

LONG: Final = 24
"""The characters of a name from which on a table divides it into lines."""

_CODE: Final = re.compile("`([^`]*)`")
_ABBREVIATIONS: Final = {"url": "URL", "soap": "SOAP", "id": "ID", "httpr": "HTTPR"}
_UNITS: Final = {"rest": "rest in s"}
"""Headings of fields whose unit is not in their name."""
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|\+00:00)")


def title_of(noun: Noun[Any]) -> str:
    """Return the word for one record of a noun, with which its page begins.

    >>> from reliquary.views.outgoing_queues import OUTGOING
    >>> title_of(OUTGOING)
    'Outgoing queue'
    """
    return {"rpc": "Association", "outgoing": "Outgoing queue"}.get(noun.plural, noun.name.capitalize())


def heading(name: str) -> str:
    """Return the name of a field as a heading.

    >>> heading("in_doubt"), heading("url"), heading("last_source_id"), heading("rest")
    ('in doubt', 'URL', 'last source ID', 'rest in s')
    """
    if name in _UNITS:
        return _UNITS[name]
    return " ".join(_ABBREVIATIONS.get(word, word) for word in name.split("_"))


def prose(text: str, argument: str = "", key: str = "") -> Markup:
    """Return a help text as HTML: paragraphs, names of fields as headings have them, the key of the record.

    >>> prose("Close session NAME. `next_resend` is a time.", "name", "in-1")
    Markup('<p>Close session in-1. <em>next resend</em> is a time.</p>')
    """
    if argument:
        text = re.sub(rf"\b{argument.upper()}\b", lambda _: key, text)
    paragraphs = (_CODE.sub(_emphasized, str(escape(each))) for each in text.split("\n\n"))
    return Markup("".join(f"<p>{each}</p>" for each in paragraphs))


def introduction(text: str) -> Markup:
    """Return the help text of a list as the first paragraphs of its page.

    >>> introduction("List the streams.")
    Markup('<p>This page lists the streams.</p>')
    """
    return prose(re.sub("^List ", "This page lists ", text))


def marked(text: str) -> Markup:
    """Return a sentence as HTML; a text in backticks is a command or a setting.

    >>> marked("Raise `quota`.")
    Markup('Raise <code>quota</code>.')
    """
    return Markup(_CODE.sub(r"<code>\1</code>", str(escape(text))))


def _emphasized(found: re.Match[str]) -> str:
    return f"<em>{heading(found[1])}</em>"


def choices(parameter: Parameter) -> tuple[str, str] | None:
    """Return the words for yes and no of a parameter that chooses one of two; None for any other.

    >>> choices(Parameter(name="arrived", kind=bool, option="--arrived/--not-there", help=""))
    ('arrived', 'not there')
    """
    words = parameter.option.split("/")
    if parameter.kind is not bool or len(words) != 2:
        return None
    first, second = (word.removeprefix("--").replace("-", " ") for word in words)
    return first, second


def column_class(value: object) -> str:
    """Return the class of style for a cell of a table: numbers to the right, names in one line.

    >>> column_class(7), column_class(True), column_class("by-wsrm"), column_class("http://depot.example/orders")
    ('number', 'word', 'word', 'long')
    """
    match value:
        case bool() | None:
            return "word"
        case datetime():
            return "time"
        case int() | float():
            return "number"
        case str() if moment(value) is not None:
            return "time"
        case str() if len(value) > LONG:
            return "text" if " " in value else "long"
        case str():
            return "word" if " " not in value else ""
        case _:
            return ""


def moment(text: str) -> datetime | None:
    """Return the time that a field writes as text; None for any other text.

    >>> moment("2026-11-18T17:36:52.722542Z"), moment("open")
    (datetime.datetime(2026, 11, 18, 17, 36, 52, 722542, tzinfo=datetime.timezone.utc), None)
    """
    return datetime.fromisoformat(text) if _MOMENT.fullmatch(text) else None
