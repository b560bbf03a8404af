"""Translates errors of a storage engine into our classes of errors, each with one sentence.

RocksDB reports through its binding with a bare `Exception` and a text; Python's own file calls
report with `OSError`, whose text has these words too.  So the words decide.  Any other exception
is a mistake in our code and passes unchanged.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from reliquary.base.faults import StoreDamage, StoreFailure

_NOT_AS_WRITTEN = ("Corruption", "No such file or directory: While opening", "create_if_missing is false")

# The first row that has a word of the error's text answers.  A space or permission problem can hide
# inside a "Corruption" or a "While lock file", so those two come first.
_KINDS: tuple[tuple[str, tuple[str, ...], str], ...] = (
    ("full", ("No space left on device", "Disk quota exceeded"), "the disk of {folder} is full: {why}"),
    (
        "permission",
        ("Permission denied", "Operation not permitted", "Read-only file system"),
        "no permission to work in {folder}: {why}",
    ),
    (
        "locked",
        ("lock hold by current process", "While lock file"),
        "{folder} is in use by another process: stop that one first, or choose another folder",
    ),
    ("newer", ("Column families not opened",), "{folder} has tables that this release does not know: {why}"),
    ("damage", _NOT_AS_WRITTEN, "{folder} is damaged: {why}"),
    ("io", ("",), "the disk failed under {folder}: {why}"),
)


@contextmanager
def translate_errors(folder: Path) -> Iterator[None]:
    """Translate every error of the file calls inside the block into one of our classes."""
    try:
        yield
    except Exception as why:
        fault = fault_of(why, folder)
        if fault is why:
            raise
        raise fault from why


def fault_of(why: Exception, folder: Path) -> Exception:
    """Return the fault to raise for what an engine or a file call raised."""
    if type(why) is not Exception and not isinstance(why, OSError):
        return why
    text = " ".join(str(why).split())
    kind, sentence = next((kind, said) for kind, words, said in _KINDS if any(word in text for word in words))
    message = sentence.format(folder=folder, why=text)
    return StoreDamage(message) if kind == "damage" else StoreFailure(kind, message)
