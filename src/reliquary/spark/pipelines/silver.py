"""Decodes messages for silver, by record batches, inside the tasks of Spark (`mapInArrow`).

    bronze columns --------------------------------> unchanged, except decoded columns
    body, soap_envelope, httpr_header ... --decode-> kind, encoding, text, srmp, soap, httpr, parts
                                                     fault, fault_place, fault_position

Rows with a fault are copied unchanged into the quarantine.  JSON becomes VARIANT (or a given schema) in
Spark, which may find another fault; XML is made JSON here first (`xml_json`).

That was chosen by measuring envelopes of 860 bytes, in processor time for a row: `from_xml` took 119 us, JSON
text and `try_parse_json` 25 us, and VARIANT in its binary form, made by an encoder of ours and handed over
through Arrow, 26 us.  The text needs no encoder, tables without VARIANT can have it, and Spark checks it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa  # type: ignore[import-untyped]

from reliquary.base.faults import UsageError
from reliquary.protocols.srmp.codec.kinds import kind_of
from reliquary.protocols.srmp.codec.values import Envelope
from reliquary.spark.pipelines.content import Content, Damage, Part, Soap
from reliquary.spark.pipelines.decode import decode

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame

DECODED_FROM: Final = ("body", "body_type", "soap_envelope", "soap_compound_message", "httpr_header")
DROPPED: Final = ("body", "soap_envelope", "soap_compound_message", "httpr_header")
"""The columns that only bronze keeps, because silver has them decoded."""
KEYS: Final = ("manager", "queue", "feed_id")
"""The columns that identify a message of a batch; a feed of another source need not have a manager."""

_MOMENT: Final = pa.timestamp("us", tz="UTC")
_TEXT: Final = pa.string()
_PART: Final = pa.struct(
    [
        ("content_type", _TEXT),
        ("content_id", _TEXT),
        ("fields", pa.map_(_TEXT, _TEXT)),
        ("data", pa.binary()),
    ]
)
_SOAP: Final = pa.struct(
    [("version", _TEXT), ("blocks", pa.list_(_TEXT)), ("operation", _TEXT), ("fault", _TEXT)]
)


def _seconds(value: int | None) -> int | None:
    return None if value is None else value * 1_000_000


def _receipts_to(envelope: Envelope) -> str | None:
    """Return the address for a requested receipt."""
    if envelope.stream is not None and envelope.stream.receipts_to:
        return envelope.stream.receipts_to
    return envelope.delivery_to or (envelope.commitment.send_to if envelope.commitment else None)


def _receipt_for(envelope: Envelope) -> str | None:
    """Return the identifier of the message of this receipt."""
    receipt = envelope.delivery_receipt or envelope.commitment_receipt
    if receipt is not None:
        return receipt.id
    return envelope.stream_receipt.identifier if envelope.stream_receipt else None


_ENVELOPE_FIELDS: Final[tuple[tuple[str, pa.DataType, Callable[[Envelope], Any]], ...]] = (
    ("what", _TEXT, lambda envelope: kind_of(envelope).value),
    ("action", _TEXT, lambda envelope: envelope.action),
    ("to", _TEXT, lambda envelope: envelope.to),
    ("id", _TEXT, lambda envelope: envelope.id),
    ("via", _TEXT, lambda envelope: envelope.via or None),
    ("sent_at", _MOMENT, lambda envelope: _seconds(envelope.sent_at)),
    ("expires_at", _MOMENT, lambda envelope: _seconds(envelope.expires_at)),
    ("durable", pa.bool_(), lambda envelope: envelope.durable),
    ("signed", pa.bool_(), lambda envelope: bool(envelope.signature)),
    ("source", _TEXT, lambda envelope: str(envelope.msmq.source) if envelope.msmq else None),
    ("class", pa.int32(), lambda envelope: envelope.msmq.message_class if envelope.msmq else None),
    ("priority", pa.int32(), lambda envelope: envelope.msmq.priority if envelope.msmq else None),
    ("stream", _TEXT, lambda envelope: envelope.stream.identifier if envelope.stream else None),
    ("stream_number", pa.int64(), lambda envelope: envelope.stream.current if envelope.stream else None),
    ("stream_previous", pa.int64(), lambda envelope: envelope.stream.previous if envelope.stream else None),
    ("receipts_to", _TEXT, _receipts_to),
    ("receipt_for", _TEXT, _receipt_for),
)
_ENVELOPE: Final = pa.struct([(name, kind) for name, kind, _ in _ENVELOPE_FIELDS])

DECODED: Final = pa.schema(
    [
        ("kind", _TEXT),
        ("encoding", _TEXT),
        ("text", _TEXT),
        ("srmp", _ENVELOPE),
        ("soap", _SOAP),
        ("httpr", pa.map_(_TEXT, _TEXT)),
        ("parts", pa.list_(_PART)),
        ("json", _TEXT),
        ("fault", _TEXT),
        ("fault_place", _TEXT),
        ("fault_position", pa.int64()),
    ]
)
"""The columns that decoding adds.

`json` is the content of an XML document, from which `decoded` makes `data`.
"""
FAULT: Final = ("fault", "fault_place", "fault_position")


# -- record batches


def decoded_columns(sources: Sequence[pa.Array]) -> list[pa.Array]:
    """Return the columns of DECODED from those of DECODED_FROM, one row for each."""
    rows = zip(*[_values(source) for source in sources], strict=True)
    found = [decode(*row) for row in rows]
    good = [each if isinstance(each, Content) else None for each in found]
    bad = [each if isinstance(each, Damage) else None for each in found]
    return [
        pa.array([each.kind for each in found], _TEXT),
        pa.array([each.encoding or None if each else None for each in good], _TEXT),
        pa.array([each.text if each else None for each in good], _TEXT),
        _envelopes([each.envelope if each else None for each in good]),
        _soaps([each.soap if each else None for each in good]),
        _array(
            [list(each.fields.items()) if each and each.fields is not None else None for each in good],
            pa.map_(_TEXT, _TEXT),
        ),
        _array([_parts(each.parts) if each and each.parts else None for each in good], pa.list_(_PART)),
        _array([each.data if each else None for each in good], _TEXT),
        _array([each.why if each else None for each in bad], _TEXT),
        _array([each.place or None if each else None for each in bad], _TEXT),
        _array([each.at if each else None for each in bad], pa.int64()),
    ]


def _values(source: pa.Array) -> Sequence[Any]:
    """Return the values of a column; those of an empty one are not converted."""
    return [None] * len(source) if source.null_count == len(source) else source.to_pylist()


def _array(values: list[Any], kind: pa.DataType) -> pa.Array:
    """Return a column, which is empty in most batches."""
    return pa.nulls(len(values), kind) if values.count(None) == len(values) else pa.array(values, kind)


def _envelopes(envelopes: Sequence[Envelope | None]) -> pa.Array:
    """Return a column for each field: many times as fast as a dictionary for each row."""
    if envelopes.count(None) == len(envelopes):
        return pa.nulls(len(envelopes), _ENVELOPE)
    missing = pa.array([envelope is None for envelope in envelopes], pa.bool_())
    columns = [
        pa.array([None if envelope is None else get(envelope) for envelope in envelopes], kind)
        for _, kind, get in _ENVELOPE_FIELDS
    ]
    return pa.StructArray.from_arrays(columns, fields=list(_ENVELOPE), mask=missing)


def _soaps(soaps: Sequence[Soap | None]) -> pa.Array:
    if soaps.count(None) == len(soaps):
        return pa.nulls(len(soaps), _SOAP)
    missing = pa.array([soap is None for soap in soaps], pa.bool_())
    columns = [
        pa.array([soap and soap.version for soap in soaps], _TEXT),
        pa.array([soap and soap.blocks for soap in soaps], pa.list_(_TEXT)),
        pa.array([soap and (soap.operation or None) for soap in soaps], _TEXT),
        pa.array([soap and (soap.fault or None) for soap in soaps], _TEXT),
    ]
    return pa.StructArray.from_arrays(columns, fields=list(_SOAP), mask=missing)


def _parts(parts: Iterable[Part]) -> list[dict[str, Any]]:
    return [
        {
            "content_type": part.content_type or None,
            "content_id": part.content_id or None,
            "fields": list(part.fields.items()),
            "data": part.data,
        }
        for part in parts
    ]


def decode_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Yield the input columns, followed by those of DECODED; `mapInArrow` calls it."""
    for batch in batches:
        added = decoded_columns([batch.column(name) for name in DECODED_FROM])
        fields = [*batch.schema, *DECODED]
        yield pa.RecordBatch.from_arrays([*batch.columns, *added], schema=pa.schema(fields))


def decode_arrays(*sources: pa.Array) -> pa.Array:
    """Decode as a function of columns, and return a struct of the columns of DECODED."""
    return pa.StructArray.from_arrays(decoded_columns(sources), fields=list(DECODED))


# -- frames


def decoded(
    bronze: DataFrame, *, json_schema: str = "", variants: bool = True, columns: Sequence[str] = ()
) -> DataFrame:
    """Return bronze with the decoded columns; JSON and XML as `data`, a VARIANT or a given schema.

    Without `variants`, for tables without that type, `data` is the VARIANT as JSON text.  With the names
    of its `columns`, bronze is not asked for them, which the definition of a declarative pipeline may not do;
    that takes longer.
    """
    from pyspark.sql import functions as f
    from pyspark.sql.pandas.functions import arrow_udf
    from pyspark.sql.pandas.types import from_arrow_schema
    from pyspark.sql.types import StructType

    added = from_arrow_schema(DECODED)
    names = [*(columns or bronze.columns), *DECODED.names]
    if columns:
        found = arrow_udf(decode_arrays, added)(*DECODED_FROM)  # type: ignore[call-overload]
        frame = bronze.select(*columns, found.alias("_found")).select(*columns, "_found.*")
    else:
        frame = bronze.mapInArrow(decode_batches, StructType([*bronze.schema, *added]))
    is_json = (f.col("kind") == "json") & f.col("fault").isNull()
    is_xml = f.col("kind").isin("xml", "soap") & f.col("fault").isNull()
    if json_schema:
        frame = _with_record(frame, names, json_schema, is_json)
    has_data = is_xml if json_schema else is_json | is_xml
    document = f.when(has_data, f.coalesce("json", "text"))
    frame = _with(frame, names, data=f.try_parse_json(document))
    unread = f.col("data").isNull() & has_data
    reason = f.lit("Spark cannot hold it as VARIANT: a name comes twice in one object, or it is too large")
    names.remove("json")
    frame = _with(frame, names, fault=f.when(unread, reason).otherwise(f.col("fault")))
    return frame if variants else _with(frame, names, data=f.to_json("data"))


def _with(frame: DataFrame, names: list[str], **columns: Column) -> DataFrame:
    """Return the columns of a frame that have these names, some of them new; new names are appended.

    It is a `select`, because Connect resolves a frame for `withColumn` and `drop`.  A table that the pipeline
    itself writes would be resolved as it was before the run, and its reader would not wait for it.
    """
    names += [name for name in columns if name not in names]
    return frame.select(*(columns[name].alias(name) if name in columns else name for name in names))


def check_schema(schema: str) -> None:
    """Refuse a text that is no list of columns, before the run begins; Spark must run."""
    from pyspark.errors import ParseException
    from pyspark.sql.types import StructType

    if schema:
        try:
            StructType.fromDDL(schema)
        except ParseException as why:
            raise UsageError(
                f"--json-schema is columns such as `number bigint, items array<string>`, not {schema[:60]!r}:"
                f" {str(why).strip().splitlines()[0]}"
            ) from None


def _with_record(frame: DataFrame, names: list[str], schema: str, is_json: Column) -> DataFrame:
    """Return a frame with JSON as a struct of the schema; a value that does not fit gets a fault."""
    from pyspark.sql import functions as f

    wanted = f"{schema}, _unfit string"
    options = {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": "_unfit"}
    frame = _with(frame, names, record=f.when(is_json, f.from_json("text", wanted, options)))
    unfit = f.col("record._unfit").isNotNull()
    reason = f.lit("it does not fit the schema that is set for JSON bodies")
    fault = f.when(unfit, reason).otherwise(f.col("fault"))
    return _with(frame, names, fault=fault, record=f.col("record").dropFields("_unfit"))


def without(bronze: DataFrame, rows: DataFrame) -> DataFrame:
    """Return the rows of a batch of bronze that are not among these rows of silver."""
    return bronze.join(rows, is_one_message(bronze, rows, keys_of(bronze)), "left_anti")


def keys_of(bronze: DataFrame) -> list[str]:
    """Return the columns that identify a message in its batch and order the messages."""
    return [name for name in KEYS if name in bronze.columns]


def is_one_message(one: DataFrame, other: DataFrame, keys: Sequence[str]) -> Column:
    """Return the condition that rows of two frames are of one message, for a join."""
    return reduce(and_, (one[key].eqNullSafe(other[key]) for key in keys))


def understood(frame: DataFrame, columns: Sequence[str] = ()) -> DataFrame:
    """Return the rows of silver: without a fault, and without the columns that only bronze keeps.

    `columns` are the names of bronze's, for a frame that may not be asked for them.
    """
    good = frame.where("fault is null")
    if not columns:
        return good.drop(*DROPPED, *FAULT)
    added = (name for name in (*DECODED.names, "data") if name not in (*FAULT, "json"))
    return good.select(*(name for name in columns if name not in DROPPED), *added)


def quarantined(frame: DataFrame, bronze: Sequence[str]) -> DataFrame:
    """Return the rows of the quarantine: unchanged, with their fault."""
    return frame.where("fault is not null").select(*bronze, "kind", *FAULT)
