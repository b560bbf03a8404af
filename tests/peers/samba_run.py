"""Runs tests of Samba with the system's own Python, and prints which passed and which did not, as JSON.

python3 samba_run.py MODULE [PART OF A NAME THAT IS LEFT OUT ...]
"""

from __future__ import annotations

import json
import sys
import unittest
from collections.abc import Iterator


def each(suite: unittest.TestSuite) -> Iterator[unittest.TestCase]:
    """Yield all tests of a suite of suites."""
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from each(test)
        else:
            yield test


def name_of(test: unittest.TestCase) -> str:
    """Return the name of a test method."""
    return test.id().rpartition(".")[2]


def main(module: str, *left_out: str) -> None:
    """Run all tests of a module whose names have none of these parts."""
    tests = [
        test
        for test in each(unittest.defaultTestLoader.loadTestsFromName(module))
        if not any(part in name_of(test) for part in left_out)
    ]
    result = unittest.TestResult()
    unittest.TestSuite(tests).run(result)
    failed = {name_of(test): text for test, text in (*result.failures, *result.errors)}
    passed = sorted(name for name in map(name_of, tests) if name not in failed)
    json.dump({"passed": passed, "failed": failed}, sys.stdout)


if __name__ == "__main__":
    main(*sys.argv[1:])
