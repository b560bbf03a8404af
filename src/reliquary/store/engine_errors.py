"""Translates errors of a storage engine into error classes of this project, each with one sentence.

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

# The first row with a word of the error's text decides. A space or permission problem can be reported with
# "Corruption" or "While lock file", so those two rows come first.
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
    """Translate every error of the file calls inside the block into an error class of this project."""
    try:
        yield
    except Exception as why:
        fault = fault_of(why, folder)
        if fault is why:
            raise
        raise fault from why


def fault_of(why: Exception, folder: Path) -> Exception:
    """Return the fault to raise for an exception of a storage engine or a file call."""
    if type(why) is not Exception and not isinstance(why, OSError):
        return why
    text = " ".join(str(why).split())
    kind, sentence = next((kind, said) for kind, words, said in _KINDS if any(word in text for word in words))
    message = sentence.format(folder=folder, why=text)
    return StoreDamage(message) if kind == "damage" else StoreFailure(kind, message)
