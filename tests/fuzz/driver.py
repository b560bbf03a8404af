"""Let the fuzzer loose: what every target has in common."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path


def fuzz(name: str, seeds: Mapping[str, bytes], target: Callable[[bytes], object]) -> None:
    """Fuzz a target, beginning with these inputs; what was found stays for the next run."""
    import atheris  # type: ignore[import-untyped]

    atheris.instrument_all()
    corpus = Path(tempfile.gettempdir()) / f"reliquary-fuzz-{name}"
    corpus.mkdir(exist_ok=True)
    for each, seed in seeds.items():
        (corpus / each).write_bytes(seed)
    atheris.Setup([*sys.argv, str(corpus)], target)
    atheris.Fuzz()
