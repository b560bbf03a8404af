"""The package serves several protocols, so it contains no word of a single one."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import reliquary.streams

SOURCES = sorted(Path(reliquary.streams.__file__).parent.rglob("*.py"))
WORDS = r"\b(soap|https?|posts?|posted|srmp|mqqb|envelope|streamid|url)\b"


@pytest.mark.parametrize("source", SOURCES, ids=[source.name for source in SOURCES])
def test_no_word_belongs_to_one_protocol(source: Path) -> None:
    assert re.findall(WORDS, source.read_text(), re.IGNORECASE) == []
