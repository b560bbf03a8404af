"""The published sample and the composed packets, by their names (vectors/ORIGIN.md)."""

from __future__ import annotations

import re
from pathlib import Path

_FOLDER = Path(__file__).parent / "vectors"
_NAME = re.compile(r"frame \d+|V\d+")


def _load(file: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    name = ""
    for line in (_FOLDER / file).read_text().splitlines():
        if line.startswith("#"):
            continue
        title = _NAME.match(line)
        if title is not None:
            name = title[0]
            found[name] = b""
        else:
            found[name] += b"".join(map(_word, line.split()))
    return found


def _word(word: str) -> bytes:
    """Return the bytes of `5A`, or of `5A*512`."""
    digits, _, count = word.partition("*")
    return bytes.fromhex(digits) * int(count or 1)


SAMPLE = _load("sample.txt")
COMPOSED = _load("composed.txt")
