"""Reads durations in the form of people: 90, 90s, 5m, 2h, 1d."""

from __future__ import annotations

import re
from typing import Any, Final

import click

_UNITS: Final = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}


class Span(click.ParamType[float]):
    """A duration in seconds."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds from the text.

        >>> Span().convert("1.5h", None, None)
        5400.0
        """
        if isinstance(value, int | float):
            return float(value)
        found = re.fullmatch(r"(\d+(?:\.\d*)?|\.\d+)([smhd]?)", str(value).strip().lower())
        if found is None:
            self.fail(f"{value!r} is not a time: write seconds or 90s, 5m, 2h, 1d", param, ctx)
        return float(found[1]) * _UNITS[found[2]]
