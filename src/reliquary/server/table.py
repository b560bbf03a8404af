"""Defines a table of the settings: the reading of its values, and the options made from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from reliquary.server.config import Settings


class Options(Protocol):
    """The values of the table of one protocol."""

    def check(self, settings: Settings) -> None:
        """Refuse values that do not fit the other settings, with a UsageError."""


class Convert(Protocol):
    """Reads one value of a table."""

    def __call__(self, name: str, value: object, *, strict: bool) -> Any:
        """Return the value of one setting; ValidationError or UsageError says why it is refused."""


def never(_: str) -> bool:
    """Return False, because no setting of the table is of this kind."""
    return False


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """A table of settings: `[name]` in the file, RELIQUARY_NAME_... in the environment."""

    name: str
    names: tuple[str, ...]
    """All settings of the table."""
    convert: Convert
    options: Callable[[Mapping[str, Any]], Any]
    """Makes the options from converted values."""
    is_list: Callable[[str], bool] = never
    """Returns whether a setting has several values."""
    is_for_the_file: Callable[[str], bool] = never
    """Returns whether a setting cannot be written in one line, and so not in the environment."""
