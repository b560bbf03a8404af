"""What the tests with peers share: gSOAP's programs, built once for all workers and kept between runs."""

from __future__ import annotations

import pytest

from tests.peers.gsoap_build import Build, build


@pytest.fixture(scope="session")
def gsoap(pytestconfig: pytest.Config) -> Build:
    """Return the programs of tests/peers/gsoap; a test that uses them is marked `needs("gsoap")`."""
    return build(pytestconfig.cache.mkdir("gsoap"))
