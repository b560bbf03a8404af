"""Defines the texts of the report for verdicts and findings: name, color, meaning and advice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from reliquary.spark.pipelines.audit.verdicts import FindingKind, Verdict

WORDS: Final[Mapping[Verdict, str]] = {
    Verdict.PROVEN: "Proven",
    Verdict.REFUTED: "Refuted",
    Verdict.NOT_JUDGED: "Not judged",
}
COLORS: Final[Mapping[FindingKind, str]] = {
    FindingKind.LOST: "#b91c1c",
    FindingKind.DUPLICATED: "#c2410c",
    FindingKind.REORDERED: "#a16207",
    FindingKind.LATE: "#4d7c0f",
    FindingKind.IN_DOUBT: "#6d28d9",
    FindingKind.ACKNOWLEDGED: "#be185d",
}
NAMES: Final[Mapping[FindingKind, str]] = {
    FindingKind.LOST: "Lost",
    FindingKind.DUPLICATED: "Duplicated",
    FindingKind.REORDERED: "Out of order",
    FindingKind.LATE: "Late",
    FindingKind.IN_DOUBT: "Stuck in doubt",
    FindingKind.ACKNOWLEDGED: "Acknowledged, not delivered",
}
MEANINGS: Final[Mapping[FindingKind, tuple[str, str]]] = {
    FindingKind.LOST: (
        (
            "The sending manager recorded that these messages left for the next manager. The history "
            "of that manager is complete for this time, and has no trace of them."
        ),
        (
            "Send them again: the sending application or its journal has them. Then find out what "
            "happened at the receiving manager at that time: a restore from an old backup is the most "
            "frequent cause."
        ),
    ),
    FindingKind.DUPLICATED: (
        (
            "These messages came into one queue twice, or were read twice: their work may have been "
            "done twice."
        ),
        (
            "Check in the receiving application whether the work was done twice, and undo one. If an "
            "application sends a message again by itself, let it keep the identifier of the message."
        ),
    ),
    FindingKind.REORDERED: (
        ("These messages came after messages that were sent later, in a stream that keeps the order."),
        (
            "Check whether the order matters to the receiving application; if it does, look at what "
            "it made of these messages and of those before and after them."
        ),
    ),
    FindingKind.LATE: (
        ("These messages took longer than the limit of this report, or were read after their deadline."),
        (
            "Look at the time: was the receiving manager stopped or slow, or was the network "
            "interrupted? If these delays are normal for this stream, raise the limit with --late."
        ),
    ),
    FindingKind.IN_DOUBT: (
        (
            "A batch or a transaction was begun with these messages, and no event says how it ended. "
            "They are not lost, but no application can receive them."
        ),
        (
            "Ask the other manager, or decide in its place: `reliquary channel` for batches, "
            "`reliquary transaction` for transactions."
        ),
    ),
    FindingKind.ACKNOWLEDGED: (
        (
            "The sender got an acknowledgement that these messages are in their queue, or were read, "
            "and the history of the receiving manager does not show it."
        ),
        (
            "Do not trust the acknowledgement: ask the receiving application, and send again what it "
            "does not have."
        ),
    ),
}
"""The meaning of each kind of finding, and the advice."""
