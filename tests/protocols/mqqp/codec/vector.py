"""The stubs in `vectors`, by file, name and transfer syntax (vectors/ORIGIN.md)."""

from __future__ import annotations

from pathlib import Path

from reliquary.wire.ndr.encoding import NDR20, NDR64, Encoding

_FOLDER = Path(__file__).parent / "vectors"
_SYNTAXES = {"NDR20": (NDR20,), "NDR64": (NDR64,), "both": (NDR20, NDR64)}


def _rows(file: str) -> list[list[str]]:
    lines = (_FOLDER / file).read_text().splitlines()
    return [[cell.strip() for cell in line.split("|")] for line in lines if not line.startswith("#")]


def named_stubs(file: str) -> dict[tuple[str, Encoding], bytes]:
    """Return the stubs of a file that has a name and a transfer syntax in each line."""
    return {
        (name, encoding): bytes.fromhex(stub)
        for name, syntax, stub in _rows(file)
        for encoding in _SYNTAXES[syntax]
    }


def recorded_calls(file: str) -> list[tuple[int, bytes, bytes]]:
    """Return each call of a recorded conversation: opnum, the stub of the request, the stub of the answer."""
    rows = [(int(opnum), bytes.fromhex(stub)) for _, opnum, stub in _rows(file)]
    return [
        (opnum, request, answer) for (opnum, request), (_, answer) in zip(rows[::2], rows[1::2], strict=True)
    ]
