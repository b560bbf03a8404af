"""Defines the words of the audit: kinds of findings, verdicts, and reasons for unjudged messages."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Final


class FindingKind(StrEnum):
    """The kind of a finding of the audit."""

    LOST = "lost"
    DUPLICATED = "duplicated"
    REORDERED = "reordered"
    LATE = "late"
    IN_DOUBT = "in-doubt"
    ACKNOWLEDGED = "acknowledged"


class Verdict(StrEnum):
    """The verdict on a stream, and on all of them."""

    PROVEN = "proven"
    REFUTED = "refuted"
    NOT_JUDGED = "not-judged"


class Reason(StrEnum):
    """The reasons why a message is not judged."""

    NO_HISTORY = "no-history"
    TOO_RECENT = "too-recent"
    TOO_OLD = "too-old"
    MISSING = "events-missing"

    @property
    def sentence(self) -> str:
        """The reason as a sentence for people."""
        return _SENTENCES[self]


_SENTENCES: Final[Mapping[Reason, str]] = {
    Reason.NO_HISTORY: "the history of the destination was not given, or no --route says which manager it is",
    Reason.TOO_RECENT: "the history of the manager that would have the answer does not reach far enough yet",
    Reason.TOO_OLD: "the history of the manager that would have the answer begins later",
    Reason.MISSING: "events are missing in the history of the manager that would have the answer",
}
