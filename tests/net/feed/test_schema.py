"""Tests the columns in the types of Arrow."""

from __future__ import annotations

import re
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]
import pytest

from reliquary.base.faults import UsageError
from reliquary.net.feed.schema import TYPES, schema_of
from reliquary.wire.columns import COLUMNS, NAMES, WRITTEN, ColumnType

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "api.md"


def test_every_kind_of_column_has_its_type() -> None:
    assert set(TYPES) == set(ColumnType)


def test_without_names_all_columns_are_meant() -> None:
    schema = schema_of()
    assert tuple(schema.names) == NAMES
    assert all(field.nullable for field in schema)
    assert schema.field("arrived").type == pa.timestamp("us", tz="UTC")


def test_columns_come_in_the_order_asked_for() -> None:
    assert schema_of(["label", "feed_id"]) == pa.schema({"label": pa.string(), "feed_id": pa.int64()})


@pytest.mark.parametrize(
    ("names", "sentence"),
    [
        (["label", "labels"], r"there is no column 'labels'; there is queue, feed_id, .*httpr_header"),
        (["label", "label"], "the column 'label' is asked for twice"),
    ],
)
def test_columns_that_are_not_known_are_refused_by_name(names: list[str], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        schema_of(names)


def test_the_document_has_these_columns() -> None:
    section = (
        DOCUMENT.read_text(encoding="utf-8").partition("### Feeds and batches")[2].partition("\n### ")[0]
    )
    documented = re.findall(r"^\| `(\w+)` \| (\S+) \| (\w*) ?\| (.+) \|$", section, re.MULTILINE)
    ours = [
        (column.name, column.kind.value, "yes" if column.name in WRITTEN else "", column.about)
        for column in COLUMNS
    ]
    assert documented == ours
