"""The reasons why something is not judged, as sentences."""

from __future__ import annotations

from reliquary.spark.pipelines.audit.verdicts import Reason


def test_every_reason_has_a_sentence() -> None:
    assert len({reason.sentence for reason in Reason}) == len(Reason)
