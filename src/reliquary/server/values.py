"""What values of settings must be like, whatever table they stand in."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Mapping
from math import isfinite
from pathlib import Path
from typing import Any, Final, TypeVar
from urllib.parse import urlsplit

from reliquary.base.faults import UsageError
from reliquary.base.time import Duration, seconds

SCHEMES: Final = ("http://", "https://")
AUTHORITY: Final = r"([A-Za-z0-9._-]{1,255}|\[[0-9A-Fa-f:.]{2,45}\])(:[0-9]{1,5})?"

T = TypeVar("T")
_AUTHORITY: Final = re.compile(AUTHORITY)


def check_authority(where: str, name: str) -> None:
    """Refuse what does not name a host."""
    if not _AUTHORITY.fullmatch(name):
        raise UsageError(f"{where} has {name[:80]!r}, which is not like host or host:port")


def check_url(where: str, url: str) -> None:
    """Refuse what nobody can post to."""
    try:
        parts = urlsplit(url)
        good = f"{parts.scheme}://" in SCHEMES and bool(parts.hostname) and (parts.port or 1) > 0
    except ValueError:
        good = False
    if not good:
        raise UsageError(f"{where} has {url[:80]!r}, which is not a URL such as http://host:port/path")


def check_together(table: str, one: str, first: object, other: str, second: object) -> None:
    """Refuse one half of what belongs together."""
    if (first is None) != (second is None):
        raise UsageError(f"{table}.{one} and {table}.{other} belong together, and only one is given")


def make_options(
    table: str,
    values: Mapping[str, Any],
    own: Container[str],
    options: Callable[..., T],
    settings: Callable[..., object],
) -> T:
    """Return the options of a table: names that are not its `own` are settings of the protocol."""
    given = {name: value for name, value in values.items() if name in own}
    protocol = {name: value for name, value in values.items() if name not in own}
    try:
        return options(protocol=settings(**protocol), **given)
    except UsageError as why:
        text = str(why)
        raise UsageError(text if text.startswith(f"{table}.") else f"{table}: {text}") from why


def span(count: float) -> Duration:
    """So many seconds."""
    if not isfinite(count):
        raise UsageError(f"a span is a number of seconds, not {count}")
    return seconds(count)


def as_path(wanted: type, value: object) -> Path:
    """The decoder's word for a path."""
    if wanted is not Path or not isinstance(value, str | Path) or not str(value):
        raise ValueError(f"Expected a path, got {value!r}")
    return Path(value)
