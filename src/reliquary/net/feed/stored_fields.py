"""Some fields of many message rows, without making messages of them.

Of sixty attributes a message has some ten that are not their default, and only those lie in its row.
Messages of one queue are alike, so rows are decoded into a structure of just the fields that have occurred; a
row with one more is refused by its decoder, and the structure grows by it.  What has not occurred is the
default in every row, which is worth knowing: its column is made once and not row by row.

Values are as they lie on disk: enumerations by their words, identifiers by their bytes.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Final

import msgspec

from reliquary.base.faults import StoreDamage
from reliquary.queueing.model.message import Message

_encode = msgspec.msgpack.Encoder(uuid_format="bytes").encode
_keys = msgspec.msgpack.Decoder(dict[str, msgspec.Raw]).decode


def _as_stored(value: object) -> Any:
    stored = msgspec.msgpack.decode(_encode(value))
    return tuple(stored) if isinstance(stored, list) else stored


DEFAULTS: Final[dict[str, Any]] = {
    name: _as_stored(default)
    for name, default in zip(Message.__struct_encode_fields__, Message.__struct_defaults__, strict=True)
}
"""What a field that is not in its row means, in the form of those that are."""

USUAL: Final = ("identifier", "body", "label", "delivery", "sent_time", "destination_queue", "source_machine")


class StoredFields:
    """Reads these fields; it learns from what it reads, so one serves for a whole feed."""

    def __init__(self, wanted: Collection[str]) -> None:
        self._wanted = frozenset(wanted)
        self._occurred = set(USUAL)
        self._learned()

    @property
    def known(self) -> int:
        """How many fields have occurred; rows that were read when it was less lack some."""
        return len(self._occurred)

    def occurs(self, field: str) -> bool:
        """Whether any row that was read so far has it, and it is wanted."""
        return field in self._occurred and field in self._wanted

    def read(self, records: Sequence[bytes | memoryview]) -> list[Any]:
        """For each record an object with the wanted fields that occur, by their names."""
        try:
            decode = self._decode
            return [decode(record) for record in records]
        except msgspec.ValidationError:
            self._learn(records)
        try:
            decode = self._decode
            return [decode(record) for record in records]
        except msgspec.ValidationError as why:
            raise StoreDamage(f"a message row does not decode: {why}") from why

    def _learn(self, records: Sequence[bytes | memoryview]) -> None:
        self._occurred = self._occurred.union(*map(_keys, records)) & DEFAULTS.keys()
        self._learned()

    def _learned(self) -> None:
        fields = [
            (name, Any, DEFAULTS[name]) if name in self._wanted else (name, msgspec.Raw, msgspec.Raw())
            for name in DEFAULTS
            if name in self._occurred
        ]
        row = msgspec.defstruct("Row", fields, forbid_unknown_fields=True, gc=False)
        self._decode = msgspec.msgpack.Decoder(row).decode
