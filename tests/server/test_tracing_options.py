"""Tests the table [tracing]: what is refused, and when the packages are asked for."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.server import tracing_options
from reliquary.server.tracing_options import TracingOptions

COLLECTOR = "http://127.0.0.1:4318/v1/traces"


@pytest.mark.parametrize(
    ("chosen", "why"),
    [
        ({"endpoint": "collector:4318"}, "tracing.endpoint is the URL of a collector"),
        ({"endpoint": "http://[::1"}, "tracing.endpoint is the URL of a collector"),
        ({"endpoint": "http://host:99999/"}, "tracing.endpoint is the URL of a collector"),
        ({"sample_ratio": 1.5}, "tracing.sample_ratio is 0 to 1, not 1.5"),
        ({"sample_ratio": -0.1}, "tracing.sample_ratio is 0 to 1"),
        ({"service_name": ""}, "tracing.service_name is empty"),
    ],
)
def test_wrong_settings_are_refused(chosen: dict[str, object], why: str) -> None:
    with pytest.raises(UsageError, match=why):
        TracingOptions(**chosen)  # type: ignore[arg-type]


def test_an_endpoint_needs_the_packages_of_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    TracingOptions(endpoint=COLLECTOR).check_installed()
    monkeypatch.setattr(tracing_options, "NEEDED", ("opentelemetry.no_such_part", "no_such_package.part"))
    TracingOptions().check_installed()
    with pytest.raises(UsageError, match=r"pip install 'reliquary\[tracing\]'"):
        TracingOptions(endpoint=COLLECTOR).check_installed()
