"""Tests what the tables of protocols over HTTP have in common."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reliquary.base.faults import UsageError
from reliquary.server.http_options import HttpOptions

SCHEMES = ("toy", "toys")


@pytest.mark.parametrize("origin", ["", "toy://h", "toys://mq.example:81", "toy://[::1]:8"])
def test_an_origin_is_a_scheme_and_a_host(origin: str) -> None:
    HttpOptions(origin=origin, names=("a", "b:1"), tokens={"https://h": "secret"}).check_names("t", SCHEMES)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"origin": "http://h"}, "t.origin is 'http://h', which is not like toy://host or toys://host:port"),
        ({"origin": "toy://h/x"}, "t.origin is 'toy://h/x', which is not like toy://host"),
        ({"names": ("a b",)}, "t.names has 'a b', which is not like host or host:port"),
        ({"tokens": {"h": "x"}}, "t.tokens has 'h', which is not like https://host:port"),
        ({"key": Path("/k")}, "t.key stands alone: t.certificate and t.key belong together"),
    ],
)
def test_wrong_settings_are_refused_by_name(given: dict[str, Any], said: str) -> None:
    with pytest.raises(UsageError) as refused:
        HttpOptions(**given).check_names("t", SCHEMES)
    assert str(refused.value).startswith(said)
