"""Defines the entries of the tables in `qm2qm_stubs` and `qmcomm_stubs`, one for each method."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from reliquary.protocols.mqqp.codec.qm2qm import Request, Response
from reliquary.wire.ndr.reader import NdrFault, NdrReader
from reliquary.wire.ndr.writer import NdrWriter


class Method(NamedTuple):
    """The codec of the request of one method, and the type of its response."""

    request: type[Request]
    read: Callable[[NdrReader], Request]
    write: Callable[[NdrWriter, Any], None]
    answer: type[Response]


class Answer(NamedTuple):
    """The codec of a type of response; several methods may return one type."""

    read: Callable[[NdrReader], Response]
    write: Callable[[NdrWriter, Any], None]


def read_in_range(reader: NdrReader, name: str, least: int, most: int) -> int:
    """Read a number that has a range attribute in the IDL."""
    found = reader.u32()
    if not least <= found <= most:
        raise NdrFault(reader.at, f"{name} is {found}, not {least} to {most}")
    return found
