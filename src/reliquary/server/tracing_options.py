"""Defines the destination of OpenTelemetry spans: the table [tracing] of the settings.

[tracing]                                          RELIQUARY_TRACING_...
endpoint = "http://127.0.0.1:4318/v1/traces"       a collector that takes OTLP over HTTP; empty makes no spans
sample_ratio = 0.1                                 the share of traces that begin here and are recorded
service_name = "reliquary"                         the name of this server at the collector
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from importlib.util import find_spec
from typing import Any, Final, get_type_hints
from urllib.parse import urlsplit

import msgspec

from reliquary.base.faults import UsageError

NEEDED: Final = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")
"""The packages of the extra `tracing`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TracingOptions:
    """These settings say where spans are sent, and which traces are recorded."""

    endpoint: str = ""
    """The URL of a collector that accepts OTLP over HTTP; empty: no spans are recorded."""
    sample_ratio: float = 1.0
    """The share of traces that are recorded, of those that begin here; others follow their sender."""
    service_name: str = "reliquary"
    """The name of this server at the collector."""

    def __post_init__(self) -> None:
        if self.endpoint and not _is_url(self.endpoint):
            raise UsageError(
                "tracing.endpoint is the URL of a collector, such as http://127.0.0.1:4318/v1/traces,"
                f" not {self.endpoint[:80]!r}"
            )
        if not 0 <= self.sample_ratio <= 1:
            raise UsageError(f"tracing.sample_ratio is 0 to 1, not {self.sample_ratio}")
        if not self.service_name:
            raise UsageError("tracing.service_name is empty; it is how the collector names this server")

    def check_installed(self) -> None:
        """Refuse an endpoint if the packages that send spans are missing."""
        if self.endpoint and not all(map(_is_installed, NEEDED)):
            raise UsageError(
                "tracing.endpoint is set, and the packages that send spans are not installed:"
                " pip install 'reliquary[tracing]'"
            )


def _is_url(text: str) -> bool:
    try:
        parts = urlsplit(text)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def _is_installed(package: str) -> bool:
    try:
        return find_spec(package) is not None
    except ModuleNotFoundError:
        return False


NAMES: Final = tuple(one.name for one in fields(TracingOptions))
_TYPES: Final = get_type_hints(TracingOptions)


def convert(name: str, value: object, *, strict: bool) -> Any:
    """Return one setting of the table, converted to its type."""
    return msgspec.convert(value, _TYPES[name], strict=strict)
