"""Tests the words after DIRECT=, also those that a protocol registers."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from reliquary.queueing.model.names.formats import DirectName, IllegalFormatName, key_of, parse_single
from reliquary.queueing.model.names.schemes import (
    HTTP,
    HTTPS,
    OS,
    SCHEMES,
    TCP,
    Scheme,
    is_bare_url,
    register,
)

WORD = "PIGEON"


@pytest.fixture
def pigeon() -> Iterator[Scheme]:
    """Yield a scheme of a protocol, for one test."""
    yield register(Scheme(WORD, "7", lambda path: path.partition("#")[2], opaque=True))
    del SCHEMES[WORD]
    parse_single.__globals__["parse_format"].cache_clear()


def test_the_words_of_the_specification_are_always_known() -> None:
    assert set(SCHEMES) >= {"TCP", "OS", "HTTP", "HTTPS", "IPX", "SPX"}
    assert [each.is_url for each in (TCP, OS, HTTP, HTTPS)] == [False, False, True, True]


def test_names_of_a_registered_word_are_read_and_compare_as_they_are_written(pigeon: Scheme) -> None:
    name = parse_single("DIRECT=pigeon://Loft:7/roof#Orders")
    assert isinstance(name, DirectName)
    assert (name.scheme, name.host, name.port, name.queue_path) == (pigeon, "Loft", "", "Orders")
    assert str(name) == "DIRECT=PIGEON://Loft:7/roof#Orders"
    assert key_of(name) != key_of(parse_single("DIRECT=PIGEON://Loft:7/roof#orders"))


def test_a_word_that_was_not_registered_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(IllegalFormatName, match=r"'pigeon' is not a way to reach a queue; these are TCP, OS"):
        parse_single("DIRECT=pigeon://loft/roof#orders")


def test_a_word_belongs_to_one_protocol(pigeon: Scheme) -> None:
    with pytest.raises(AssertionError, match="two protocols register names with DIRECT=PIGEON"):
        register(pigeon)
    with pytest.raises(AssertionError, match="DIRECT=OS"):
        register(Scheme("OS", "80"))


def test_only_urls_can_be_registered() -> None:
    with pytest.raises(AssertionError, match="default port"):
        register(Scheme("SEMAPHORE"))


@pytest.mark.usefixtures("pigeon")
@pytest.mark.parametrize(
    ("text", "bare"),
    [
        ("pigeon://loft/roof#orders", True),
        ("PIGEON://x", True),
        ("http://host/msmq/q", False),
        ("pigeon:loft", False),
        ("orders", False),
        ("unknown://host/q", False),
    ],
)
def test_only_a_url_of_an_opaque_scheme_stands_for_a_format_name(text: str, bare: bool) -> None:
    assert is_bare_url(text) is bare
