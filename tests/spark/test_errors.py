"""Errors cross processes on their way to whoever runs a query: class and sentence must arrive."""

from __future__ import annotations

import pickle

from reliquary.spark.errors import JavaMissing, SparkFault


def test_a_fault_travels_between_processes() -> None:
    again = pickle.loads(pickle.dumps(JavaMissing("install one")))  # noqa: S301 - our own
    assert isinstance(again, SparkFault)
    assert str(again) == "install one"
