"""Reads the settings of a run of the lake: the command line, then a TOML file, then defaults.

    server = "http://127.0.0.1:8480"       [lake] in a file of several pipelines, or at its top
    queues = ["orders", "inv*"]
    lake = "lake"

An unknown setting is refused by name, because a misspelled one must not be ignored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final, get_type_hints

from reliquary.base.faults import UsageError
from reliquary.base.toml import read_toml

FORMATS: Final = ("parquet", "delta")
DATA_FORMS: Final = ("variant", "text")
LONGEST_LOOKBACK: Final = 366


@dataclass(frozen=True, slots=True)
class LakeSettings:
    """All settings of a run of the lake."""

    lake: Path = Path("lake")
    """The folder of the lake; driver and executors must see it."""
    server: str = "http://127.0.0.1:8480"
    """One server: gold and the settings of a replay name no manager."""
    queues: tuple[str, ...] = ()
    """Names and patterns; without any, only the history is read."""
    history: tuple[Path, ...] = ()
    """Folders that managers export their history to."""
    consumer: str = "lake"
    """The name under which the server keeps what the lake has not read yet."""
    token: str = ""
    ca: str = ""
    """A PEM file with the certificate of the server or of its authority."""
    format: str = "parquet"
    data_as: str = ""
    """The form of `data` in silver: variant, or text for readers that do not know VARIANT; empty: as the lake
    has it, and variant in a new lake."""
    continuous: float | None = None
    """Seconds between batches; None: take what is there, and end."""
    rows_per_batch: int = 100_000
    json_schema: str = ""
    """The columns of JSON bodies, as `order bigint, items array<string>`; empty: VARIANT."""
    lookback: int = 7
    """Days that a message is followed back to its sending."""
    compact_batches: int = 100
    """The number of batches of a Parquet table that become one; 0: never."""
    grace: float = 3600
    """Seconds that the files of batches stay after that, for who reads them."""

    def __post_init__(self) -> None:
        if not self.queues and not self.history:
            raise UsageError("a lake needs queues or a history: give --queue, --history or both")
        if "," in self.server:
            raise UsageError(
                f"a lake reads one server, and server names several ({self.server}): make a lake for each,"
                " in a folder of its own"
            )
        if self.format not in FORMATS:
            raise UsageError(f"format is parquet or delta, not {self.format!r}")
        if self.data_as not in {"", *DATA_FORMS}:
            raise UsageError(f"data_as is variant or text, not {self.data_as!r}")
        if self.continuous is not None and not 0 < self.continuous <= 86_400:
            raise UsageError(f"continuous is more than 0 and at most 86400 seconds, not {self.continuous}")
        if self.rows_per_batch < 1:
            raise UsageError(f"rows_per_batch is at least 1, not {self.rows_per_batch}")
        if not 0 <= self.lookback <= LONGEST_LOOKBACK:
            raise UsageError(f"lookback is 0 to {LONGEST_LOOKBACK} days, not {self.lookback}")
        if self.compact_batches < 0 or self.compact_batches == 1:
            raise UsageError(f"compact_batches is 0 or at least 2, not {self.compact_batches}")
        if not 0 <= self.grace < float("inf"):
            raise UsageError(f"grace is 0 or more seconds, not {self.grace}")
        if not self.consumer:
            raise UsageError("consumer is empty: the server keeps messages for a name")
        for folder in self.history:
            if not folder.is_dir():
                raise UsageError(f"history is {folder}, and this folder does not exist")
        if self.lake.exists() and not self.lake.is_dir():
            raise UsageError(f"lake is {self.lake}, which is a file")


def load(file: Path | None, given: Mapping[str, object]) -> LakeSettings:
    """Return settings from a file, replaced by the given ones; None means not given."""
    chosen: dict[str, Any] = {}
    if file is not None:
        chosen.update(_read(file))
    chosen.update({name: value for name, value in given.items() if value is not None})
    return LakeSettings(**chosen)


def _read(file: Path) -> dict[str, Any]:
    try:
        found = read_toml(file.read_text())
    except FileNotFoundError:
        raise UsageError(f"there is no file {file}") from None
    except (UsageError, UnicodeDecodeError) as why:
        raise UsageError(f"{file} is not TOML: {why}") from None
    found = found.get("lake", found) if isinstance(found.get("lake"), dict) else found
    hints = get_type_hints(LakeSettings)
    known = {field.name for field in fields(LakeSettings)}
    chosen: dict[str, Any] = {}
    for name, value in found.items():
        if name not in known:
            raise UsageError(
                f"{file} has {name!r}, which is no setting of a lake; there are {', '.join(sorted(known))}"
            )
        chosen[name] = _converted(file, name, value, hints[name])
    return chosen


def _converted(file: Path, name: str, value: object, kind: object) -> object:
    match kind:
        case _ if kind is Path and isinstance(value, str):
            return file.parent / value
        case _ if kind == tuple[Path, ...] and _are_texts(value):
            return tuple(file.parent / each for each in value)  # type: ignore[attr-defined]
        case _ if kind == tuple[str, ...] and _are_texts(value):
            return tuple(value)  # type: ignore[arg-type]
        case _ if kind is str and isinstance(value, str):
            return value
        case _ if kind is int and isinstance(value, int) and not isinstance(value, bool):
            return value
        case _ if kind in (float, float | None) and type(value) in (int, float):
            return float(value)  # type: ignore[arg-type]
        case _:
            raise UsageError(f"{file}: {name} is not as it must be: {value!r}")


def _are_texts(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


def with_schema_file(settings: LakeSettings, file: Path) -> LakeSettings:
    """Return the settings with the JSON schema of a file: columns as in CREATE TABLE."""
    try:
        text = file.read_text().strip()
    except (OSError, UnicodeDecodeError) as why:
        raise UsageError(f"--json-schema: {file} cannot be read: {why}") from None
    return replace(settings, json_schema=text)
