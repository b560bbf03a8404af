"""Adds examples to a command's help, which click must not join to a paragraph."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from typing import Any, TypeVar

F = TypeVar("F", bound=Callable[..., Any])


def examples(*lines: str, heading: str = "Examples:") -> Callable[[F], F]:
    """Return a decorator that adds lines to the help of a command, each shown unchanged.

    The docstring is dedented first: since Python 3.13 the compiler has already done it.
    """

    def add(command: F) -> F:
        shown = "\n".join(f"  {line}" for line in lines)
        command.__doc__ = f"{cleandoc(command.__doc__ or '')}\n\n\b\n{heading}\n{shown}"
        return command

    return add
