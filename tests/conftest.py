"""What all tests share: marks, and Hypothesis that finds equal examples in every run.

    @pytest.mark.spec("DM-028", "DM-193")   the requirements that the test shows
    @pytest.mark.needs("strace")            skipped without the package; with CI=true it fails
    @pytest.mark.long                       only with ./dev test --all

A test that needs a real wait or a real process is in tests/e2e.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator

import hypothesis
import pytest

from reliquary.server import space
from tools import system_packages

if os.environ.pop("PYTHONDONTWRITEBYTECODE", None):
    # Else every server and command of this run compiles its 900 modules anew: a second of a processor each.
    sys.dont_write_bytecode = False

hypothesis.settings.register_profile("same every time", derandomize=True, deadline=None, database=None)
hypothesis.settings.load_profile("same every time")


def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test whose system packages are not there; with CI=true fail it."""
    named = [str(name) for mark in item.iter_markers("needs") for name in mark.args]
    absent = system_packages.missing(system_packages.NEEDED[name] for name in named)
    if not absent:
        return
    packages = " ".join(package for need in absent for package in need.apt)
    sentence = f"needs a system package: apt-get install {packages}"
    if os.environ.get("CI") == "true":
        pytest.fail(sentence, pytrace=False)
    pytest.skip(sentence)


@pytest.fixture(autouse=True, scope="session")
def _servers_need_no_room() -> Iterator[None]:
    """Servers make no reserve and refuse nothing: hundreds of them would fill the disk of a test run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(space, "LOW", 0)
        patch.setattr(space, "RESERVE", 0)
        yield
