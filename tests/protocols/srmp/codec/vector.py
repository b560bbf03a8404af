"""Whole POSTs from files (vectors/ORIGIN.md)."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

FOLDER = Path(__file__).parent / "vectors"
LARGEST = 4 * 1024 * 1024

ALPHA = UUID("5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10")
"""The manager that sends the composed messages."""
BETA = UUID("c2d94f7a-88b1-4f0e-8a53-71be0d5f3e29")
"""The manager that receives them."""
STREAM = 5907119348278886407


@dataclass(frozen=True)
class Vector:
    name: str
    data: bytes

    @property
    def head(self) -> str:
        return self.data.partition(b"\r\n\r\n")[0].decode()

    @property
    def body(self) -> bytes:
        return self.data.partition(b"\r\n\r\n")[2]

    @property
    def content_type(self) -> str:
        found = re.search(r"^Content-Type: (.*)\r$", self.head, re.MULTILINE)
        assert found
        return found[1]

    @property
    def envelope(self) -> str:
        start = self.data.index(b"<se:Envelope")
        return self.data[start : self.data.index(b"</se:Envelope>") + 14].decode()

    @property
    def boundary_number(self) -> int:
        found = re.search(r"boundary, ([0-9]+)", self.head)
        return int(found[1]) if found else 0

    @property
    def part_source(self) -> UUID:
        """The GUID in the Content-Id of the body part."""
        found = re.search(rb"Content-Id: body@([0-9a-f-]{36})", self.data)
        return UUID(found[1].decode()) if found else ALPHA

    @property
    def is_windows(self) -> bool:
        """Framed without CRLF before the delimiters."""
        return self.data.endswith(b"--\r\n")


VECTORS = {path.stem: Vector(path.stem, path.read_bytes()) for path in sorted(FOLDER.glob("*.http"))}
PUBLISHED = {path.stem: path.read_bytes() for path in sorted((FOLDER / "published").glob("*.xml"))}
"""Envelopes of section 4 with their white space."""
