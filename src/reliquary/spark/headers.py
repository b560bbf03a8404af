"""Makes the column `headers`: the SOAP and HTTPR parts of a message by name, as headers in Kafka.

    soap:envelope, soap:header, soap:body    a message that came by SRMP
    httpr:NAME                               each field of a message that came by HTTPR, such as httpr:user-id

A message that has none of these has no headers: null.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.base.faults import PeerFault
from reliquary.protocols.httpr.fields import lines_of

NAME: Final = "headers"
TYPE: Final = "array<struct<key:string,value:binary>>"
ARROW: Final = pa.list_(pa.struct([("key", pa.string()), ("value", pa.binary())]))
HTTPR: Final = "httpr_header"
SOAP: Final = {"soap_envelope": "soap:envelope", "soap_header": "soap:header", "soap_body": "soap:body"}
"""The columns of SOAP parts, and their keys."""
COLUMNS: Final = (*SOAP, HTTPR)
"""The columns from which headers are made."""


def headers_of(batch: pa.RecordBatch) -> pa.Array:
    """Return the headers of rows that have these columns."""
    columns = {name: batch.column(name) for name in COLUMNS}
    if all(column.null_count == batch.num_rows for column in columns.values()):
        return pa.nulls(batch.num_rows, ARROW)
    values = {name: column.to_pylist() for name, column in columns.items()}
    rows = [list(_headers({name: values[name][row] for name in COLUMNS})) for row in range(batch.num_rows)]
    return pa.array([row or None for row in rows], ARROW)


def _headers(parts: dict[str, str | None]) -> Iterator[dict[str, Any]]:
    for name, key in SOAP.items():
        part = parts[name]
        if part is not None:
            yield {"key": key, "value": part.encode()}
    header = parts[HTTPR]
    if header is None:
        return
    try:
        fields = list(lines_of(header))
    except PeerFault:  # it came from a peer that is not strict
        fields = [("", header)]
    for name, value in fields:
        yield {"key": f"httpr:{name}", "value": value.encode()}
