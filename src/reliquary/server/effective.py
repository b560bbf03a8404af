"""Writes the settings that a server would use as lines of TOML, without secrets.

Settings, Origins --> Entry(table, name, value, origin) --> name = value  # origin
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields, is_dataclass
from enum import Enum, IntEnum
from pathlib import Path
from typing import Any, Final, NamedTuple, get_type_hints
from uuid import UUID

import msgspec
import tomli_w

from reliquary.base.time import SECOND, Duration
from reliquary.server.config import Settings
from reliquary.server.loading import OF_PROTOCOLS, TABLES
from reliquary.server.origins import DEFAULT, Loaded, Origins
from reliquary.server.table import Table

HIDDEN: Final = "(hidden)"
SECRETS: Final = frozenset({"token", "tokens", "token_sha256", "nt_hash", "password", "password_hash"})
"""Settings and fields whose values are not shown."""


class Entry(NamedTuple):
    """A setting that is in force, with its origin."""

    table: str
    """The table; empty for a setting outside the tables."""
    name: str
    value: Any
    """The value in the form of TOML; None for a setting without a value."""
    origin: str


def entries(loaded: Loaded) -> Iterator[Entry]:
    """Yield all settings in their order: first those outside the tables, then table by table."""
    settings, origins = loaded
    for (table, name), value in values_of(settings).items():
        yield _entry(table, name, value, origins)


def values_of(settings: Settings) -> dict[tuple[str, str], Any]:
    """Return all settings by table and name, with their secrets; the table is empty outside of tables."""
    tables = {table.name for table in TABLES} | {"tables"}
    found = {
        ("", one.name): getattr(settings, one.name) for one in fields(Settings) if one.name not in tables
    }
    for table in TABLES:
        options = _options(settings, table)
        found |= {(table.name, name): _value_of(options, name) for name in table.names}
    return found


def text_of(found: Iterable[Entry]) -> str:
    """Return entries as TOML, each with its origin behind it."""
    lines, table = [], ""
    for each in found:
        if each.table != table:
            table = each.table
            lines += ["", f"[{table}]"]
        if each.value is None:
            lines.append(f"# {each.name} is not set")
        elif isinstance(each.value, list) and each.value and isinstance(each.value[0], dict):
            lines += [f"# {each.name}, from {each.origin}:", *_rows(each)]
        elif isinstance(each.value, dict):
            inside = ", ".join(tomli_w.dumps({name: value}).strip() for name, value in each.value.items())
            lines.append(f"{each.name} = {{{inside}}}  # {each.origin}")
        else:
            lines.append(f"{tomli_w.dumps({each.name: each.value}).strip()}  # {each.origin}")
    return "\n".join(lines) + "\n"


def _rows(entry: Entry) -> list[str]:
    name = f"{entry.table}.{entry.name}" if entry.table else entry.name
    return [line for row in entry.value for line in ("", f"[[{name}]]", tomli_w.dumps(row).strip())]


def _entry(table: str, name: str, value: Any, origins: Origins) -> Entry:
    shown = HIDDEN if name in SECRETS and value else plain(value)
    return Entry(table, name, shown, origins.get((table, name), DEFAULT))


def _options(settings: Settings, table: Table) -> Any:
    """Return the options of a table, or its defaults."""
    if table not in OF_PROTOCOLS:
        return getattr(settings, table.name)
    default = table.options({})
    return next((each for each in settings.tables if type(each) is type(default)), default)


def _value_of(options: Any, name: str) -> Any:
    """Return the value of a setting of a table; durations are seconds, as they are written."""
    holder = options if hasattr(options, name) else options.protocol
    value, hint = getattr(holder, name), get_type_hints(type(holder)).get(name)
    if hint is Duration:
        return value / SECOND
    if hint == tuple[Duration, ...]:
        return [each / SECOND for each in value]
    return value


def plain(value: Any) -> Any:
    """Return a value in the form of TOML; None stays None."""
    match value:
        case IntEnum():
            return value.name.lower()
        case Enum():
            return value.value
        case Path() | UUID():
            return str(value)
        case msgspec.Struct():
            return _without_secrets(msgspec.structs.asdict(value))
        case dict():
            return {str(name): plain(each) for name, each in value.items()}
        case list() | tuple() | frozenset():
            return [plain(each) for each in value]
        case _ if is_dataclass(value) and not isinstance(value, type):
            return _without_secrets({one.name: getattr(value, one.name) for one in fields(value)})
        case _:
            return value


def _without_secrets(row: dict[str, Any]) -> dict[str, Any]:
    return {
        name: HIDDEN if name in SECRETS and value else plain(value)
        for name, value in row.items()
        if value is not None
    }
