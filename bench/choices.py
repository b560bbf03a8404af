"""Reads the names that the command line of a benchmark chooses from a list."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable


def some_of(known: Iterable[str]) -> Callable[[str], list[str]]:
    """Return a type for argparse: names with commas between them, each of which must be known."""
    names = list(known)

    def read(text: str) -> list[str]:
        """Return the chosen names; the error for an unknown one lists those that exist."""
        chosen = text.split(",")
        unknown = [name for name in chosen if name not in names]
        if unknown:
            raise argparse.ArgumentTypeError(f"{unknown[0]!r} is none of {', '.join(names)}")
        return chosen

    return read
