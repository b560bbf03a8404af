"""The published packet, for the tests and the fuzzer (vectors/ORIGIN.md)."""

from __future__ import annotations

from pathlib import Path

_LINES = (Path(__file__).parent / "vectors" / "user_message.hex").read_text().splitlines()

HEADERS = bytes.fromhex("".join(line for line in _LINES if not line.startswith("#")))
PACKET = HEADERS + b"a\0" * 1000 + b"\0\0"
