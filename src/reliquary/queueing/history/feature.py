"""The rules that the exporter of the history adds to the queue manager."""

from __future__ import annotations

from typing import Final

from reliquary.queueing.history import keeping
from reliquary.queueing.history.events import ForgetHistory, ResumeHistory
from reliquary.queueing.model.feature import Feature

HISTORY: Final = Feature(
    name="history",
    rules={ForgetHistory: keeping.forget, ResumeHistory: keeping.resume},
    at_any_time=frozenset({ForgetHistory, ResumeHistory}),
)
