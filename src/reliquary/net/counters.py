"""Represents counters, gauges and histograms as data, which endpoints declare and the control plane prints.

Metric   a counted value: declared once, as a constant of a module; the reference page is made from these
Family   a metric with its current values
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Literal

from reliquary.engine.histogram import Histogram

MetricType = Literal["counter", "gauge", "histogram"]

Sample = tuple[Mapping[str, str], float]
"""The labels and the value."""


class Section(IntEnum):
    """The section of the page of metrics that shows a family."""

    MANAGER = 1
    TRAFFIC = 2
    """Requests and bytes that passed the endpoints."""
    HISTORY = 3
    MACHINES = 4
    """Events that the machines of protocols count."""


@dataclass(frozen=True, slots=True)
class Metric:
    """The description of one metric, without its values."""

    name: str
    """The name without the prefix that all metrics of a server have."""
    kind: MetricType
    meaning: str
    """One sentence with a full stop."""
    labels: tuple[str, ...] = ()
    section: Section = Section.TRAFFIC

    def of(self, samples: Sequence[Sample]) -> Family:
        """Return the metric with a value for each set of labels."""
        assert all(tuple(labels) == self.labels for labels, _ in samples), f"{self.name}: other labels"
        return Family(self, samples)

    def now(self, value: float) -> Family:
        """Return the metric with its one value; it has no labels."""
        return self.of([({}, value)])

    def spread(self, histogram: Histogram) -> Family:
        """Return the metric with the values of a histogram."""
        assert self.kind == "histogram", self.name
        return Family(self, (), histogram)


@dataclass(frozen=True, slots=True)
class Family:
    """One metric with all its samples."""

    metric: Metric
    samples: Sequence[Sample]
    histogram: Histogram | None = None

    @property
    def name(self) -> str:
        """The name of the metric, without the prefix."""
        return self.metric.name

    @property
    def section(self) -> Section:
        """The section of the page that shows the metric."""
        return self.metric.section
