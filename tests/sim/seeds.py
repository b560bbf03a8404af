"""Runs seeds of the simulator one after another, until one fails or all have passed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Protocol

MISSPELLED: Final = ("AttributeError", "ImportError", "NameError", "TypeError")
"""The beginning of a failure if a mutant names something that does not exist; that failure shows nothing."""


class Report(Protocol):
    """The report of a run of any world."""

    @property
    def failure(self) -> str: ...

    @property
    def command(self) -> str: ...


def check_seeds(simulate: Callable[[int], Report], first: int, count: int) -> None:
    """Run `count` seeds, and fail with the report of the first that breaks a promise."""
    for seed in range(first, first + count):
        report = simulate(seed)
        assert not report.failure, str(report)  # the report ends with the command that repeats it


def find_failure(simulate: Callable[[int], Report], seeds: range, world: str = "") -> str:
    """Return what the checkers say about the first seed in which they find something."""
    for seed in seeds:
        report = simulate(seed)
        if report.failure:
            assert report.command == f"./dev sim --seed {seed}" + (f" --world {world}" if world else "")
            assert not report.failure.startswith(MISSPELLED), f"the mutant cannot run: {report.failure}"
            return report.failure
    raise AssertionError(f"nothing was found in seeds {seeds.start} to {seeds.stop - 1}")
