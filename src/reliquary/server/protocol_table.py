"""Reads the table of a protocol: options of the server, and settings of the protocol itself.

[name]
enabled = true                        a field of the options
response_time = 30                    a field of the protocol's settings; spans are seconds
peers = [{address = "..."}, ...]      `rows`: only in the file
tokens = {"https://host" = "..."}     only in the file
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from types import MappingProxyType
from typing import Any, TypeVar, get_origin, get_type_hints

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.time import Duration
from reliquary.server.table import Table
from reliquary.server.values import as_path, make_options, span

T = TypeVar("T")
Read = Callable[[object], Any]
"""The type of a function that reads a value which cannot be written in one line."""


def protocol_table(
    table: str,
    options: type,
    settings: type,
    reads: Mapping[str, Read],
    hidden: Container[str] = (),
    words: Mapping[str, Read] = MappingProxyType({}),
) -> Table:
    """Return the table of a protocol whose `options` have its `settings` as their field `protocol`.

    `reads` has the settings that are allowed only in the file, `hidden` those that cannot be set, and
    `words` those whose words stand for other values.
    """
    own = {field: hint for field, hint in get_type_hints(options).items() if field != "protocol"}
    hints = own | {field: hint for field, hint in get_type_hints(settings).items() if field not in hidden}

    def convert(name: str, value: object, *, strict: bool) -> Any:
        read = reads.get(name) or words.get(name)
        return convert_value(value, hints[name], strict=strict) if read is None else read(value)

    return Table(
        name=table,
        names=tuple(hints),
        convert=convert,
        options=lambda values: make_options(table, values, own, options, settings),
        is_list=lambda field: get_origin(hints.get(field)) is tuple,
        is_for_the_file=lambda field: field in reads or get_origin(hints.get(field)) is dict,
    )


def convert_value(value: object, hint: Any, *, strict: bool = True) -> Any:
    """Convert a value to its type; ValidationError or UsageError has the error."""
    if hint is Duration:
        return span(msgspec.convert(value, float, strict=strict))
    if hint == tuple[Duration, ...]:
        return tuple(map(span, msgspec.convert(value, tuple[float, ...], strict=strict)))
    return msgspec.convert(value, hint, strict=strict, dec_hook=as_path)


def rows(kind: Callable[..., T], hints: Mapping[str, Any]) -> Callable[[object], tuple[T, ...]]:
    """Return a reader for a list of tables: each must have the first field, and becomes one `kind`."""
    needed = next(iter(hints))

    def read(value: object) -> tuple[T, ...]:
        found = []
        for row in msgspec.convert(value, list[dict[str, Any]]):
            if needed not in row:
                raise UsageError(f"each needs the field {needed}, and one has none")
            found.append(kind(**fields_of("field", row, hints)))
        return tuple(found)

    return read


def fields_of(what: str, value: object, hints: Mapping[str, Any]) -> dict[str, Any]:
    """Convert the given fields to their types; refuse unknown names."""
    found = {}
    for name, each in msgspec.convert(value, dict[str, Any]).items():
        if name not in hints:
            raise UsageError(f"there is no {what} {name[:80]!r}; these are {', '.join(hints)}")
        try:
            found[name] = convert_value(each, hints[name])
        except msgspec.ValidationError as why:
            raise UsageError(f"{name}: {why}") from why
    return found
