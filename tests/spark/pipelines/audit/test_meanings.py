"""Each verdict and each kind of finding has its words."""

from __future__ import annotations

from reliquary.spark.pipelines.audit.meanings import COLORS, MEANINGS, NAMES, WORDS
from reliquary.spark.pipelines.audit.verdicts import FindingKind, Verdict


def test_every_kind_has_a_name_a_color_a_meaning_and_an_advice_of_its_own() -> None:
    assert set(NAMES) == set(COLORS) == set(MEANINGS) == set(FindingKind)
    for words in (NAMES.values(), COLORS.values(), *zip(*MEANINGS.values(), strict=True)):
        assert len(set(words)) == len(FindingKind)
    assert all(text.endswith(".") for texts in MEANINGS.values() for text in texts)


def test_every_verdict_has_a_word() -> None:
    assert set(WORDS) == set(Verdict)
