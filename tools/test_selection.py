"""Which tests a command of `./dev` runs, with which pytest call, and whether they need Spark.

    ./dev test     the short tier, or what its arguments name
    ./dev pythons  the short tier without server processes, Spark and hundreds of seeds
    ./dev coverage the short tier of some rooms

Only the standard library is used here: `./dev` imports this file before there is an environment.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

SERVERS = frozenset({"e2e", "peers", "server", "spark"})
"""Folders of tests/ whose tests start processes: servers, databases, Spark, other implementations."""
SEARCHES = ("test_seeds.py", "test_mutants*.py")
"""Files of tests/sim that run hundreds of seeds: they try our rules, which are alike in every Python."""
_STARTS_SERVERS = ("tests.e2e", "tests.server.process")
_USES_SPARK = ("pyspark", "reliquary.spark")


def pytest_command(python: Path, arguments: Sequence[str]) -> list[str]:
    """Return the pytest call: the short tier unless --all or -m is given, in parallel unless -n is given."""
    given = [argument for argument in arguments if argument != "--all"]
    command = [str(python), "-m", "pytest"]
    if "--all" not in arguments and "-m" not in given:
        command += ["-m", "not long"]
    if not any(argument.startswith(("-n", "--numprocesses", "--pdb")) for argument in given):
        command += ["-n", str(os.cpu_count() or 1), "--dist", "loadgroup"]
    return command + given


def without_servers() -> list[str]:
    """Return pytest's arguments for all tests but those that start a server, need Spark or search seeds.

    Left out are the folders of SERVERS and the files of SEARCHES, and elsewhere each file that imports what
    starts a server, or Spark.
    """
    tests = ROOT / "tests"
    others = [path for path in tests.rglob("test_*.py") if path.relative_to(tests).parts[0] not in SERVERS]
    files = [path for path in others if _mentions(path, (*_STARTS_SERVERS, *_USES_SPARK))]
    searches = [path for pattern in SEARCHES for path in (tests / "sim").rglob(pattern)]
    ignored = sorted([*(tests / name for name in SERVERS), *files, *searches])
    return ["tests", *(f"--ignore={path.relative_to(ROOT)}" for path in ignored)]


def tests_need_spark(arguments: Iterable[str]) -> bool:
    """Return whether the tests that these arguments of pytest name need Spark; no name means all tests."""
    named = [ROOT / argument.partition("::")[0] for argument in arguments if not argument.startswith("-")]
    paths = [path for path in named if path.exists()]
    return not paths or any(mentions_spark(path) for path in paths)


def mentions_spark(path: Path) -> bool:
    """Return whether a file, or a file below a folder, imports Spark or our side of it."""
    files = path.rglob("*.py") if path.is_dir() else [path]
    return any(_mentions(file, _USES_SPARK) for file in files)


def _mentions(path: Path, words: Iterable[str]) -> bool:
    text = path.read_text()
    return any(word in text for word in words)
