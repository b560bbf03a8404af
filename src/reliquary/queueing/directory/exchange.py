"""Read and write directory objects as text: fields of a request, conditions, and a TOML file of all objects.

    [[site]]
    identifier = "0f0e0d0c-0b0a-0908-0706-050403020100"
    name = "north"

Bytes are written as base64.  A file is imported as a whole or not at all; an error sentence names the line of
the object and the attribute.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, get_args, get_origin, get_type_hints
from uuid import UUID

import msgspec
import tomli_w

from reliquary.base.faults import UsageError
from reliquary.base.toml import read_toml
from reliquary.queueing.directory.queries import Filter, Operator
from reliquary.queueing.model.directory.holdings import Directory
from reliquary.queueing.model.directory.objects import TYPES, DirectoryObject, ObjectKind, check_object

_CONDITION: Final = re.compile(r"\s*(\w+)\s*(<=|>=|!=|=|<|>)(.*)", re.DOTALL)
_ATTRIBUTE: Final = re.compile(r" - at `\$\.?([^`]*)`$")


def kind_named(word: str) -> ObjectKind:
    """Return the type of directory object that a word of the user stands for."""
    try:
        return ObjectKind(word)
    except ValueError as why:
        known = ", ".join(kind.value for kind in ObjectKind)
        raise UsageError(f"{word!r} is no type of directory object; these are {known}") from why


def fields_of(subject: DirectoryObject) -> dict[str, Any]:
    """Return every attribute as plain data, also those with default values; Identifier comes first."""
    names = ("identifier", *(name for name in subject.__struct_fields__ if name != "identifier"))
    return {name: msgspec.to_builtins(getattr(subject, name)) for name in names}


def subject_of(kind: ObjectKind, fields: Mapping[str, Any]) -> DirectoryObject:
    """Build an object from its attributes; a UsageError names the attribute that is wrong."""
    for name in fields:
        if name not in TYPES[kind].__struct_fields__:
            raise UsageError(f"{kind.value} has no attribute {name!r}")
    try:
        return msgspec.convert({**fields, "kind": kind.value}, TYPES[kind])
    except msgspec.ValidationError as why:
        raise UsageError(_sentence(str(why))) from why


def changed(
    kind: ObjectKind, identifier: UUID, fields: Mapping[str, Any]
) -> tuple[DirectoryObject, tuple[str, ...]]:
    """Return the arguments of a write: an object with these attributes, and their names."""
    if not fields:
        raise UsageError("nothing is to be changed: name an attribute")
    if "identifier" in fields:
        raise UsageError("the identifier of an object cannot be changed")  # DM-005
    return subject_of(kind, {**fields, "identifier": str(identifier)}), tuple(fields)


def condition(text: str) -> Filter:
    """Parse a filter from text, for example `actual_cost<9`."""
    found = _CONDITION.fullmatch(text)
    if found is None:
        raise UsageError(f"a condition is ATTRIBUTE=VALUE, or with != < > <= >=, not {text[:80]!r}")
    return Filter(found[1], Operator(found[2]), found[3].strip())


# -- files


def export_text(directory: Directory) -> str:
    """Return all objects as TOML, by type and identifier, without attributes that have their defaults."""
    tables: dict[str, list[dict[str, Any]]] = {}
    for kind in ObjectKind:
        for subject in directory.every(TYPES[kind]):
            fields = msgspec.to_builtins(subject)
            del fields["kind"]
            first = {"identifier": fields.pop("identifier")}
            tables.setdefault(kind.value, []).append(first | fields)
    return tomli_w.dumps(tables)


def import_text(text: str) -> tuple[DirectoryObject, ...]:
    """Parse and check the objects of a TOML file, each one alone."""
    try:
        tables = read_toml(text)
    except UsageError as why:
        raise UsageError(f"this is not TOML: {why}") from why
    found: list[DirectoryObject] = []
    for word, rows in tables.items():
        kind = kind_named(word)
        if not isinstance(rows, list) or not all(isinstance(each, dict) for each in rows):
            raise UsageError(f"objects are written as [[{word}]], each with its attributes below")
        lines = _lines_of(text, word)
        for place, fields in enumerate(rows):
            try:
                found.append(_checked(kind, fields))
            except UsageError as why:
                line = f"line {lines[place]}: " if len(lines) == len(rows) else ""
                raise UsageError(f"{line}{word} {place + 1}: {why}") from why
    return tuple(found)


def _checked(kind: ObjectKind, fields: Mapping[str, Any]) -> DirectoryObject:
    if "identifier" not in fields:
        raise UsageError("identifier is missing")
    subject = subject_of(kind, fields)
    check_object(subject)
    return subject


def _lines_of(text: str, word: str) -> list[int]:
    """Return the number of the line where each object of this type begins."""
    heading = re.compile(rf"\s*\[\[\s*[\"']?{re.escape(word)}[\"']?\s*\]\]")
    return [number for number, line in enumerate(text.splitlines(), 1) if heading.match(line)]


def _sentence(why: str) -> str:
    """Return the error sentence of msgspec with the attribute at its beginning."""
    found = _ATTRIBUTE.search(why)
    return f"{found[1]}: {why[: found.start()]}" if found else why


def value_of(word: str, name: str, text: str) -> Any:
    """Return the value of an attribute, as plain data, from one word of a command line."""
    hint = get_type_hints(TYPES[kind_named(word)]).get(name)
    if hint is None:
        raise UsageError(f"{word} has no attribute {name!r}")
    if get_origin(hint) is tuple:
        return [part.strip() for part in text.split(",") if part.strip()]
    if text == "" and type(None) in get_args(hint):
        return None
    try:
        return msgspec.to_builtins(msgspec.convert(text, hint, strict=False))
    except msgspec.ValidationError as why:
        raise UsageError(f"{name} cannot be {text!r}: {why}") from why


def conditions(texts: Iterable[str]) -> tuple[Filter, ...]:
    """Parse several conditions; an object has to meet all of them."""
    return tuple(map(condition, texts))
