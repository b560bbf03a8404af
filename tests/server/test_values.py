"""Tests of the rules for values of settings."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import seconds
from reliquary.server.values import (
    as_path,
    check_authority,
    check_queues,
    check_together,
    check_tokens,
    check_url,
    make_options,
    span,
)


@pytest.mark.parametrize("name", ["h", "mq.example", "mq.example:81", "10.0.0.1:80", "[::1]", "[::1]:80"])
def test_a_host_may_have_a_port(name: str) -> None:
    check_authority("t.x", name)
    check_url("t.x", f"https://{name}/path")


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (check_authority, ""),
        (check_authority, "a b"),
        (check_authority, "http://a"),
        (check_authority, "a:x"),
        (check_url, "a"),
        (check_url, "ftp://a"),
        (check_url, "http:///q"),
        (check_url, "http://h:x"),
    ],
)
def test_wrong_values_are_refused_by_name(check: Callable[[str, str], None], value: str) -> None:
    with pytest.raises(UsageError) as refused:
        check("t.x", value)
    assert str(refused.value).startswith(f"t.x has {value!r}, which is not ")


def test_a_half_is_refused() -> None:
    check_together("t.", "a", None, "b", None)
    check_together("t.", "a", 1, "b", 2)
    for first, second, alone in ((1, None, "a"), (None, 2, "b")):
        with pytest.raises(UsageError, match=rf"^t\.{alone} stands alone: t\.a and t\.b belong together$"):
            check_together("t.", "a", first, "b", second)


def test_a_token_is_for_a_server() -> None:
    check_tokens("t", {"https://far.example:81": "secret"})
    for tokens, why in (
        ({"far.example": "secret"}, r"t\.tokens has 'far.example', which is not like https://host:port"),
        (
            {"https://far.example": "a b"},
            r"t\.tokens has a token for https://far.example that is no printable",
        ),
    ):
        with pytest.raises(UsageError, match=why):
            check_tokens("t", tokens)


def test_a_queue_is_one_that_this_computer_can_have() -> None:
    check_queues("t.x", ["", "orders", r"HERE\private$\orders"], "HERE")
    with pytest.raises(UsageError, match=r"t\.x has the queue 'a\+b': "):
        check_queues("t.x", ["orders", "a+b"], "HERE")


def test_a_span_is_seconds() -> None:
    assert span(2.5) == seconds(2.5)
    with pytest.raises(UsageError, match="a span is a number of seconds, not inf"):
        span(float("inf"))
    with pytest.raises(UsageError, match=r"a span is 0 or more seconds, not -0\.5"):
        span(-0.5)


def test_a_path_is_text() -> None:
    assert as_path(Path, "/a") == Path("/a")
    for value in ("", 1):
        with pytest.raises(ValueError, match="Expected a path"):
            as_path(Path, value)


def test_the_options_of_a_table_are_its_own_and_those_of_its_protocol() -> None:
    def options(**given: object) -> dict[str, object]:
        if given["port"] == 0:
            raise UsageError("the port is 0")
        if given["port"] == 1:
            raise UsageError("t.port is 1")
        return given

    made = make_options("t", {"port": 9, "depth": 2}, {"port"}, options, dict)
    assert made == {"port": 9, "protocol": {"depth": 2}}
    for port, why in ((0, "^t: the port is 0"), (1, r"^t\.port is 1")):
        with pytest.raises(UsageError, match=why):
            make_options("t", {"port": port}, {"port"}, options, dict)
