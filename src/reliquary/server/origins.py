"""Records the origin of each setting: a line of the file, the environment, an option, or the default.

    /etc/reliquary.toml:7     line 7 of that file; a row, such as the second [[peers]], has lines of its own
    environment               a variable RELIQUARY_...
    command line              an option of `reliquary serve`

Errors begin with it, so that people find the wrong line; `reliquary config show` prints it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from reliquary.base.faults import UsageError
from reliquary.server.rows import RowError, row_name

if TYPE_CHECKING:
    from reliquary.server.config import Settings

DEFAULT: Final = "default"
COMMAND_LINE: Final = "command line"

Origins = dict[tuple[str, str], str]
"""The origin of each setting in words, by its table (or empty) and its name."""

_HEADER: Final = re.compile(r"\s*(\[\[?)([\w\s.-]+)\]")
_KEY: Final = re.compile(r"\s*([\w-]+)\s*=")
_NAMED: Final = re.compile(r"^([a-z_]*)(?:\.([a-z_]+))?")
_QUOTED: Final = re.compile(r"'[^']*'")
_IN_ROW: Final = re.compile(r" - at `\$\[(\d+)\](?:\.(\w+))?")
_UNKNOWN: Final = re.compile(r"unknown field `(\w+)`")
"""The row and the key, or the unknown key, in errors of msgspec."""


class Loaded(NamedTuple):
    """Settings, and the origins of those that are no defaults."""

    settings: Settings
    origins: Origins


@dataclass(frozen=True, slots=True)
class Source:
    """The settings that come from one source."""

    values: Mapping[str, Any] = field(default_factory=dict)
    name: str = ""
    """The file or `environment`; empty for the command line."""
    lines: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """The line of a file, by table and name."""

    @classmethod
    def of_file(cls, file: Path, read: Callable[[Path], tuple[str, dict[str, Any]]]) -> Source:
        """Read a file; `read` returns its text and its tables."""
        text, values = read(file)
        return cls(values, str(file), lines_of(text))

    def origin(self, table: str, name: str) -> str:
        """Return the origin of a setting of this source."""
        line = self.lines.get((table, name)) or (self.lines.get(("", table)) if table else None)
        return f"{self.name}:{line}" if line else self.name or COMMAND_LINE

    def rows(self) -> Origins:
        """Return the origins of the rows of this source and of their keys."""
        return {place: f"{self.name}:{line}" for place, line in self.lines.items() if "]" in "".join(place)}

    def prefix_of_value(self, table: str, name: str, why: Exception) -> str:
        """Return the beginning of an error about a value; an error of msgspec may name its row and key."""
        if found := _IN_ROW.search(str(why)):
            row = row_name(f"{table}.{name}" if table else name, int(found[1]))
            unknown = _UNKNOWN.search(str(why))
            key = unknown[1] if unknown else found[2] or ""
            if line := self.lines.get((row, key)) or self.lines.get(("", row)):
                return f"{self.name}:{line}: "
        return self.prefix(table, name)

    def prefix(self, table: str, name: str) -> str:
        """Return the beginning of an error about a setting; empty for an option, which names itself."""
        return f"{self.origin(table, name)}: " if self.name else ""


def lines_of(text: str) -> dict[tuple[str, str], int]:
    r"""Return the line of each setting and of each table of a TOML text.

    >>> lines_of("data_port = 1\n[srmp]\nenabled = false")
    {('', 'data_port'): 1, ('', 'srmp'): 2, ('srmp', 'enabled'): 3}
    """
    found: dict[tuple[str, str], int] = {}
    count: Counter[str] = Counter()
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        header, key = _HEADER.match(line), _KEY.match(line)
        if header:
            table = "".join(header[2].split())
            above, _, name = table.rpartition(".")
            found.setdefault(("", above or name), number)
            found.setdefault((above, name), number)
            if header[1] == "[[":
                count[table] += 1
                table = row_name(table, count[table] - 1)
                found["", table] = number
        elif key:
            found.setdefault((table, key[1]), number)
    return found


@contextmanager
def naming_origin(origins: Origins) -> Iterator[None]:
    """Put the origin of a setting before an error that begins with its name, or that is about a row."""
    try:
        yield
    except RowError as why:
        if origin := _origin_in_row(origins, why):
            raise UsageError(f"{origin}: {why}") from why
        raise
    except UsageError as why:
        first, second = _NAMED.findall(str(why))[0]
        origin = origins.get((first, second), "") or origins.get(("", first), "")
        if ":" not in origin:
            raise
        raise UsageError(f"{origin}: {why}") from why


def _origin_in_row(origins: Origins, why: RowError) -> str:
    """Return the origin of the first key in the row that an error names, of the row, or of all rows."""
    for word in re.findall(r"\w+", _QUOTED.sub("", str(why))):
        if (why.row, word) in origins:
            return origins[why.row, word]
    return origins.get(("", why.row)) or origins.get(("", why.rows), "")
