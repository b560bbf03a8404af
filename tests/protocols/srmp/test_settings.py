"""Tests what an administrator may choose."""

from __future__ import annotations

from typing import Any

import pytest

from reliquary.base.faults import UsageError
from reliquary.base.time import SECOND, seconds
from reliquary.protocols.srmp.settings import SrmpSettings


@pytest.mark.spec("SR-158", "SR-129", "SR-130", "SR-142")
def test_the_defaults_are_those_of_the_specification() -> None:
    settings = SrmpSettings()
    assert [span // SECOND for span in settings.resend_ladder] == [30] * 3 + [300] * 3 + [1800] * 3 + [21600]
    assert (settings.store_and_forward, settings.default_receipt_url) == (False, "")
    assert (settings.coalescing, settings.longest_coalescing) == (seconds(0.5), seconds(10))


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"in_flight": 0}, "in_flight is 0, it must be at least 1"),
        ({"resend_ladder": ()}, "resend_ladder needs at least one span"),
        ({"resend_ladder": (0,)}, "each of a microsecond or more"),
        ({"coalescing": seconds(11)}, "longest_coalescing is 10 s, shorter than coalescing, 11 s"),
    ],
)
def test_what_cannot_work_is_refused_by_name(wrong: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        SrmpSettings(**wrong)
