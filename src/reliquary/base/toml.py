"""Reads TOML from outside the program: parses the text, or refuses it with one sentence."""

from __future__ import annotations

import tomllib
from typing import Any, Final

from reliquary.base.faults import UsageError

TOO_DEEP: Final = "it is nested too deeply"


def read_toml(text: str) -> dict[str, Any]:
    """Return the tables of a text; UsageError says why it is not TOML, or that it is nested too deeply."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as why:
        raise UsageError(str(why)) from why
    except RecursionError:
        raise UsageError(TOO_DEEP) from None
