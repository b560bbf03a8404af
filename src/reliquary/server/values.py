"""Checks values of settings that several tables have."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from enum import Enum
from math import isfinite
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, get_args, get_type_hints
from urllib.parse import urlsplit

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.time import Duration, seconds
from reliquary.net.api.unknown_fields import with_likely_field
from reliquary.net.host import is_loopback
from reliquary.queueing.model.names.pathnames import parse
from reliquary.queueing.travel.crossing import leads_elsewhere, onward_name

if TYPE_CHECKING:
    from reliquary.server.config import Settings

SCHEMES: Final = ("http://", "https://")
AUTHORITY: Final = r"([A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?"

T = TypeVar("T")
WORD: Final = re.compile(r"[!-~]+")
"""The characters that need no encoding in a header or a URL."""
_STEP: Final = re.compile(r"\[(\d+)\]|\.(\w+)")
"""A step of the path in an error of msgspec: the number of a row, or a key."""
_AUTHORITY: Final = re.compile(AUTHORITY)
_SERVER: Final = re.compile("https?://" + AUTHORITY)


@contextmanager
def naming(where: str) -> Iterator[None]:
    """Put the name of a setting before an error about its value."""
    try:
        yield
    except UsageError as why:
        raise UsageError(f"{where}: {why}") from why


def check_authority(where: str, name: str) -> None:
    """Refuse a text that names no host."""
    if not _AUTHORITY.fullmatch(name):
        raise UsageError(f"{where} has {name[:80]!r}, which is not like host or host:port")


def check_reach(where: str, host: str, settings: Settings) -> None:
    """Refuse an address that other computers reach, unless users are named or the settings allow it."""
    if not (is_loopback(host) or settings.users or settings.open_to_network):
        raise UsageError(
            f"{where} is {host}, which other computers may reach, and the settings name no users: clients"
            " there could do everything; name users, or say open_to_network = true (--open-to-network)"
        )


def check_url(where: str, url: str) -> None:
    """Refuse a URL that no client can post to."""
    try:
        parts = urlsplit(url)
        good = f"{parts.scheme}://" in SCHEMES and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        raise UsageError(f"{where} has {url[:80]!r}, which is not a URL such as http://host:port/path")


def check_tokens(table: str, tokens: Mapping[str, str]) -> None:
    """Refuse bearer tokens that no header can contain, and those for an invalid origin."""
    for origin, token in tokens.items():
        if not _SERVER.fullmatch(origin):
            raise UsageError(f"{table}.tokens has {origin[:80]!r}, which is not like https://host:port")
        if not WORD.fullmatch(token):
            raise UsageError(f"{table}.tokens has a token for {origin} that is no printable word")


def check_queues(where: str, queues: Iterable[str], computer_name: str, *, onward: bool = False) -> None:
    """Refuse names that no queue of this computer can have; empty ones are ignored.

    With `onward`, messages may also be forwarded to another manager, by a URL of any protocol.
    """
    for queue in filter(None, queues):
        try:
            if onward and leads_elsewhere(queue):
                onward_name(queue)
            else:
                parse(queue, computer_name)
        except UsageError as why:
            raise UsageError(f"{where} has the queue {queue[:80]!r}: {why}") from why


def check_together(where: str, one: str, first: object, other: str, second: object) -> None:
    """Refuse one of two settings that belong together; `where` precedes the names, such as `srmp.`."""
    if (first is None) != (second is None):
        alone = other if first is None else one
        raise UsageError(f"{where}{alone} stands alone: {where}{one} and {where}{other} belong together")


def make_options(
    table: str,
    values: Mapping[str, Any],
    own: Container[str],
    options: Callable[..., T],
    settings: type,
) -> T:
    """Return the options of a table: names that are not its `own` are settings of the protocol."""
    given = {name: value for name, value in values.items() if name in own}
    protocol = {name: value for name, value in values.items() if name not in own}
    try:
        return options(protocol=settings(**protocol), **given)
    except UsageError as why:
        text = str(why)
        first = text.partition(" ")[0]
        mark = "." if first in get_type_hints(settings) else ": "
        raise UsageError(text if text.startswith(f"{table}.") else f"{table}{mark}{text}") from why


def explained(why: msgspec.ValidationError, hint: Any) -> str:
    """Return an error about a value of a type, with the words that are allowed or the key that was meant.

    >>> from typing import Literal
    >>> why = msgspec.ValidationError("Invalid enum value 'x' - at `$[0]`")
    >>> explained(why, tuple[Literal["a", "b"], ...])
    "Invalid enum value 'x' - at `$[0]`; it is one of a, b"
    """
    text = with_likely_field(str(why), hint)
    if not text.startswith("Invalid enum value"):
        return text
    for index, key in _STEP.findall(text.rpartition("`$")[2]):
        hint = get_args(hint)[0] if index else get_type_hints(hint)[key]
    return f"{text}; it is one of {', '.join(_words(hint))}"


def _words(hint: Any) -> Iterator[str]:
    """Yield the values of an enumeration or a Literal, or of the one in `X | None`."""
    if isinstance(hint, type):
        yield from (str(each.value) for each in hint) if issubclass(hint, Enum) else ()
        return
    for each in get_args(hint):
        yield from (each,) if isinstance(each, str) else _words(each)


def span(count: float) -> Duration:
    """Return a number of seconds as a duration."""
    if not isfinite(count):
        raise UsageError(f"a span is a number of seconds, not {count}")
    if count < 0:
        raise UsageError(f"a span is 0 or more seconds, not {count:g}")
    return seconds(count)


def as_path(wanted: type, value: object) -> Path:
    """Return a path from its text; the decoder calls this for types that it does not know."""
    if wanted is not Path or not isinstance(value, str | Path) or not str(value):
        raise ValueError(f"Expected a path, got {value!r}")
    return Path(value)
