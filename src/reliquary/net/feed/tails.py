"""Decodes the ends of message rows (`row_parts`): some fields of every message, and its rare ones.

    | priority | delivery | sent time | time to be received | body type | map of rare fields, or c0 |

The map has only rare fields that differ from their default.  Messages of one queue are alike, so the
map is decoded into a structure of just the fields that have occurred; a map with one more is refused by its
decoder, and the structure grows by it.

Values are as they are stored on disk: enumerations by their words or numbers, identifiers by their bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from operator import attrgetter
from typing import Any, Final, NamedTuple

import msgspec

from reliquary.base.faults import StoreDamage
from reliquary.queueing.model.message import OWN, Attributes, Message

FIELDS: Final = tuple(name for name in OWN if name not in {"identifier", "body", "label"})
"""The fields of every message that are in the tail."""
_ARRAY: Final = bytes([0x90 + len(FIELDS) + 1])
"""The byte that makes an array of a tail."""

_encode = msgspec.msgpack.Encoder(uuid_format="bytes").encode
_elements = msgspec.msgpack.Decoder(list[msgspec.Raw]).decode
_keys = msgspec.msgpack.Decoder(dict[str, msgspec.Raw] | None).decode


def _as_stored(value: object) -> Any:
    stored = msgspec.msgpack.decode(_encode(value))
    return tuple(stored) if isinstance(stored, list) else stored


_RARE: Final = dict(zip(Attributes.__struct_encode_fields__, Attributes.__struct_defaults__, strict=True))
_OWN: Final = dict(zip(OWN, Message.__struct_defaults__, strict=False))
DEFAULTS: Final[dict[str, Any]] = {
    name: _as_stored(default) for name, default in ({name: _OWN[name] for name in FIELDS} | _RARE).items()
}
"""The values of absent fields, in the form of stored ones."""


class Tails(NamedTuple):
    """The fields of some tails."""

    decoded: list[Any]
    fields: frozenset[str]
    """The wanted fields that may differ from the default in one of these."""

    def values(self, field: str) -> list[Any]:
        """Return the values of one of `fields`, for each tail."""
        value = attrgetter(field)
        if field in FIELDS:
            return list(map(value, self.decoded))
        default = DEFAULTS[field]
        return [default if tail.more is None else value(tail.more) for tail in self.decoded]


class TailReader:
    """Reads these fields; it adapts to the tails that it reads, so one reader serves a whole feed."""

    def __init__(self, wanted: Collection[str]) -> None:
        self._wanted = frozenset(wanted)
        self._occurred: set[str] = set()
        self._learned()

    def read(self, tails: Sequence[bytes]) -> Tails:
        """Return the fields of these tails; StoreDamage for invalid bytes."""
        arrays = [_ARRAY + tail for tail in tails]
        try:
            decoded = list(map(self._decode, arrays))
        except msgspec.DecodeError:
            decoded = self._learn(arrays)
        fields: Collection[str] = FIELDS
        if any(tail.more is not None for tail in decoded):
            fields = self._occurred.union(FIELDS)
        return Tails(decoded, self._wanted.intersection(fields))

    def _learn(self, arrays: Sequence[bytes]) -> list[Any]:
        """Decode with all fields that occur."""
        try:
            for each in arrays:
                self._occurred |= (_keys(_elements(each)[-1]) or {}).keys() & _RARE.keys()
            self._learned()
            return list(map(self._decode, arrays))
        except msgspec.DecodeError as why:
            raise StoreDamage(f"a message row does not decode: {why}") from why

    def _learned(self) -> None:
        rare = [self._field(name) for name in _RARE if name in self._occurred]
        more = msgspec.defstruct("Rare", rare, forbid_unknown_fields=True, gc=False) | None
        own = [self._field(name)[:2] for name in FIELDS]
        fields = [*own, ("more", more)]
        tail = msgspec.defstruct("Tail", fields, array_like=True, gc=False, forbid_unknown_fields=True)
        self._decode: Callable[[bytes], Any] = msgspec.msgpack.Decoder(tail).decode

    def _field(self, name: str) -> tuple[str, Any, Any]:
        if name in self._wanted:
            return name, Any, DEFAULTS[name]
        return name, msgspec.Raw, msgspec.Raw()
