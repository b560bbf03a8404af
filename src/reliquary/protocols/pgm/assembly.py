"""Assembles APDUs from packets that come in order, RFC 3208 9.2.3."""

from __future__ import annotations

from reliquary.wire.pgm.packets import Data


class Broken(Exception):
    """A packet does not continue the APDU that was begun, or begins one that is too large."""


class Assembly:
    """Takes packets one after the other, and holds at most one incomplete APDU."""

    def __init__(self, largest: int) -> None:
        self._largest = largest
        self._parts: list[bytes] = []
        self._size = 0
        self._first = 0
        self._length = 0

    @property
    def size(self) -> int:
        """Bytes of the APDU that is being assembled; 0 if there is none."""
        return self._size

    def add(self, data: Data) -> bytes | None:
        """Return the APDU that this packet completes, or None.

        A part whose beginning never came is ignored: a receiver that joins in the middle of an APDU, or
        loses its beginning, starts with the next.  Broken is raised for a wrong packet, and the
        incomplete APDU before it is dropped.
        """
        part = data.fragment
        if part is None or part.offset == 0:
            cut_off, length = self._size, len(data.payload) if part is None else part.length
            self.drop()
            if length > self._largest:  # SR-013
                raise Broken(f"an APDU of {length} bytes is larger than {self._largest}")
            if part is None or len(data.payload) == length:
                if cut_off:
                    raise Incomplete(cut_off, data.payload)
                return data.payload
            self._parts, self._size = [data.payload], len(data.payload)
            self._first, self._length = part.first, length
            if cut_off:
                raise Incomplete(cut_off, None)
            return None
        if not self._size:
            return None
        if (part.first, part.offset, part.length) != (self._first, self._size, self._length):
            self.drop()
            raise Broken("a fragment does not continue its APDU")
        self._parts.append(data.payload)
        self._size += len(data.payload)
        if self._size < self._length:
            return None
        whole = b"".join(self._parts)
        self.drop()
        return whole

    def drop(self) -> None:
        """Drop the parts of an APDU that is not complete."""
        self._parts, self._size = [], 0


class Incomplete(Broken):
    """The next APDU begins before the current one is complete."""

    def __init__(self, size: int, apdu: bytes | None) -> None:
        super().__init__(f"an APDU ends after {size} bytes, before its end")
        self.apdu = apdu
        """The next APDU, if it is complete."""
