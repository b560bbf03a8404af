"""The places of the requirements: which function, class or table of src cites each id.

    src/**/*.py   a comment or a docstring that has DM-190, or SR-155 to SR-157
          |
          v
    Definition(path, name, line, kind) for each id

A citation belongs to the function round it; outside of functions to the field or the table that it stands
beside or above, to the class, or to the module.  Sources are read as tokens and syntax trees, nothing is
imported.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest
from pathlib import Path

ID = re.compile(r"\b([A-Z]{2})-(\d{2,3})\b(?: to \1-(\d{2,3})\b)?")


class DefinitionKind(Enum):
    """The kinds of objects that a citation can belong to."""

    FUNCTION = "function"
    CLASS = "class"
    FIELD = "field"
    TABLE = "table"
    MODULE = "module"


@dataclass(frozen=True, order=True)
class Definition:
    """One definition of a module, or the module itself, which has no name and starts at line 1."""

    path: str  # below the root of the project, with slashes
    line: int
    name: str  # Class.function
    kind: DefinitionKind

    def __str__(self) -> str:
        """Return file and name, as the marks of tests are written."""
        return f"{self.path}::{self.name}" if self.name else self.path


@dataclass(frozen=True)
class _Definition:
    place: Definition
    first: int  # its first line, decorators included
    last: int  # its last line, a docstring below an assignment included


@dataclass(frozen=True)
class Module:
    """One module of src: its definitions in their order, and the ids that each of them cites."""

    path: str
    cited: Mapping[Definition, tuple[str, ...]]


# ------------------------------------------------------------------------------------ reading


def modules(source: Path, root: Path, prefixes: Sequence[str]) -> list[Module]:
    """Read every module that cites an id with one of these prefixes, in the order of their paths."""
    wanted = re.compile(rf"\b(?:{'|'.join(prefixes)})-\d")
    found = []
    for path in sorted(source.rglob("*.py")):
        text = path.read_text()
        if wanted.search(text):
            found.append(read(text, path.relative_to(root).as_posix(), prefixes))
    return found


def read(text: str, path: str, prefixes: Sequence[str]) -> Module:
    """Return one module with all its definitions; a definition that cites nothing has no ids."""
    tree = ast.parse(text, path)
    module = Definition(path, 1, "", DefinitionKind.MODULE)
    definitions = list(_definitions(tree, path, ""))
    cited: dict[Definition, dict[str, None]] = {module: {}, **{one.place: {} for one in definitions}}
    for line, words in _remarks(text, tree):
        owner = _owner(definitions, line)
        cited[owner.place if owner else module].update(dict.fromkeys(ids(words, prefixes)))
    return Module(path, {place: tuple(sorted(found)) for place, found in cited.items()})


def ids(words: str, prefixes: Sequence[str]) -> Iterator[str]:
    """Return the ids in a text; SR-008 to SR-010 gives all three."""
    for prefix, first, last in ID.findall(words):
        if prefix in prefixes:
            for number in range(int(first), int(last or first) + 1):
                yield f"{prefix}-{number:0{len(first)}}"


def _definitions(node: ast.Module | ast.ClassDef, path: str, outer: str) -> Iterator[_Definition]:
    """Return the functions, classes and assignments of a module or class, but not those inside functions."""
    for child, after in zip_longest(node.body, node.body[1:]):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name, kind = (
                child.name,
                DefinitionKind.CLASS if isinstance(child, ast.ClassDef) else DefinitionKind.FUNCTION,
            )
            first = min([child.lineno, *(each.lineno for each in child.decorator_list)])
            yield _Definition(
                Definition(path, child.lineno, outer + name, kind), first, child.end_lineno or first
            )
            if isinstance(child, ast.ClassDef):
                yield from _definitions(child, path, f"{outer}{name}.")
        elif isinstance(child, ast.Assign | ast.AnnAssign):
            target = child.targets[0] if isinstance(child, ast.Assign) else child.target
            kind = DefinitionKind.FIELD if outer else DefinitionKind.TABLE
            place = Definition(path, child.lineno, outer + ast.unparse(target), kind)
            last = after if after is not None and _is_text(after) else child
            yield _Definition(place, child.lineno, last.end_lineno or child.lineno)


def _is_text(node: ast.AST) -> bool:
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


def _remarks(text: str, tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Return each docstring and each comment with the line of the code that it is about.

    A comment that has its line to itself and stands directly above a definition is about the definition.
    """
    lines = text.splitlines()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and _is_text(node):
            yield node.lineno, " ".join(" ".join(lines[node.lineno - 1 : node.end_lineno]).split())
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line = token.start[0]
            while lines[line - 1].lstrip().startswith("#") and line < len(lines):
                line += 1
            yield line, token.string


def _owner(definitions: Sequence[_Definition], line: int) -> _Definition | None:
    """Return the innermost definition round a line: it is the last one that begins before it."""
    around = [one for one in definitions if one.first <= line <= one.last]
    return around[-1] if around else None


# ------------------------------------------------------------------------------------ answers


def places(found: Sequence[Module]) -> dict[str, list[Definition]]:
    """Return for each id the places that cite it, by file and line."""
    where: dict[str, list[Definition]] = {}
    for module in found:
        for place, cited in module.cited.items():
            for name in cited:
                where.setdefault(name, []).append(place)
    return {name: sorted(listed, key=lambda one: (one.path, one.line)) for name, listed in where.items()}
