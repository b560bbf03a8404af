"""Run the tests that start no server with every further Python that the project names and this machine has.

    classifiers of pyproject.toml --> 3.11, 3.12, 3.13
    python3.X on the PATH, pyenv  --> one interpreter for each, and /usr/bin/python3 beside them
                                  --> .venvs/3.12.1, kept until the lock or the interpreter changes
                                  --> pytest

A version that is not on this machine is named and passed over.  So is one whose environment cannot be made;
with CI=true that is a failure.  Only the standard library is used here, as `./dev` does.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from pathlib import Path

from tools.environments import (
    ROOT,
    Environment,
    Interpreter,
    NotMade,
    interpreter_at,
    this_interpreter,
)
from tools.test_selection import pytest_command, without_servers

SYSTEM = "/usr/bin/python3"
"""Debian's own Python: it is older than others of its minor version, and what many users have."""


def supported(pyproject: str) -> list[str]:
    """Return the minor versions of the classifiers, such as 3.11."""
    classifiers = tomllib.loads(pyproject)["project"]["classifiers"]
    found = [re.fullmatch(r"Programming Language :: Python :: (\d+\.\d+)", each) for each in classifiers]
    return [each[1] for each in found if each]


def places(minor: str) -> Iterator[str]:
    """Yield the paths where a Python of a minor version may be, the preferred first: the PATH, then pyenv."""
    on_path = shutil.which(f"python{minor}")
    if on_path:
        yield on_path
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    versions = sorted((pyenv / "versions").glob(f"{minor}.*"), key=lambda each: _numbers(each.name))
    yield from (str(version / "bin" / "python3") for version in reversed(versions))


def found(minors: Iterable[str]) -> list[Interpreter]:
    """Return one interpreter of each minor version, and the system's where its version is another one."""
    chosen: dict[str, Interpreter] = {}
    for minor in minors:
        for paths in (places(minor), [SYSTEM]):
            of_minor = (each for each in map(interpreter_at, paths) if each and each.minor == minor)
            first = next(of_minor, None)
            if first:
                chosen.setdefault(first.version, first)
    return list(chosen.values())


def _numbers(version: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", version)]


class Outcome(Enum):
    """The result of the tests with one Python."""

    PASSED = "passed"
    FAILED = "FAILED"
    NO_ENVIRONMENT = "no environment could be made"


def attempt(interpreter: Interpreter) -> Outcome:
    """Run the tests that start no server with one Python, in its own environment."""
    environment = Environment(ROOT / ".venvs" / interpreter.version, interpreter)
    try:
        environment.ensure()
    except NotMade as why:
        print(why)
        return Outcome.NO_ENVIRONMENT
    print(f"Python {interpreter.version} ({environment.name})", flush=True)
    command = pytest_command(environment.python, ["-p", "no:cacheprovider", *without_servers()])
    done = subprocess.run(command, cwd=ROOT, check=False)
    return Outcome.PASSED if done.returncode == 0 else Outcome.FAILED


def main(arguments: Sequence[str]) -> int:
    """Run the tests with the Pythons that are named (3.12 or 3.12.1), or with all but that of `./dev`."""
    minors = supported((ROOT / "pyproject.toml").read_text())
    here = found(minors)
    own = this_interpreter().version
    if arguments:
        chosen = [each for each in here if {each.version, each.minor} & {*arguments}]
        if not chosen:
            print(f"none of these is here; there is {', '.join(each.version for each in here)}")
            return 2
    else:
        chosen = [each for each in here if each.version != own]
    outcomes = {each.version: attempt(each) for each in chosen}
    for minor in minors:
        if minor not in {each.minor for each in here}:
            print(f"Python {minor}: not on this machine")
    for version, outcome in outcomes.items():
        print(f"Python {version}: {outcome.value}")
    bad = {Outcome.FAILED, Outcome.NO_ENVIRONMENT} if os.environ.get("CI") == "true" else {Outcome.FAILED}
    return 1 if bad & {*outcomes.values()} else 0
