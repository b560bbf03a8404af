"""Tests URLs in place of others."""

from __future__ import annotations

import pytest

from reliquary.protocols.srmp.redirection import Redirection, matches, redirected


@pytest.mark.spec("SR-131", "SR-132")
@pytest.mark.parametrize(
    ("pattern", "url", "expected"),
    [
        ("http://pub/*", "http://pub/msmq/private$/orders", True),
        ("http://PUB/*", "http://pub/MSMQ/private$/orders", True),
        ("http://pub/msmq/orders", "http://pub/msmq/orders", True),
        ("http://pub/msmq/orders", "http://pub/msmq/orders2", False),
        ("http://pub/msmq/o*ers", "http://pub/msmq/orders", False),
        ("*", "https://any/msmq/q", True),
    ],
)
def test_only_a_star_at_the_end_stands_for_anything(pattern: str, url: str, expected: bool) -> None:
    assert matches(pattern, url) is expected


@pytest.mark.spec("SR-132")
def test_the_first_that_matches_counts() -> None:
    ways = (Redirection("http://a/*", "http://x/msmq/q"), Redirection("http://a/b*", "http://y/msmq/q"))
    assert redirected(ways, "http://a/bc") == "http://x/msmq/q"
    assert redirected(ways, "http://c/") is None
