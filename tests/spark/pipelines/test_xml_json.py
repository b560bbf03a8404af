"""XML documents become JSON: what each of them says is in it once."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.spark.pipelines.xml_json import NotReadable, Remembered, json_of, quoted, scalar
from tests.spark.pipelines.documents import ENVELOPE, KEPT, WHOLE


def test_an_envelope_keeps_its_names_and_declarations() -> None:
    assert json.loads(json_of(ENVELOPE)) == {
        "_xmlns:s": "http://schemas.xmlsoap.org/soap/envelope/",
        "s:Header": {"t:id": {"_xmlns:t": "urn:t", "_s:mustUnderstand": 1, "_VALUE": 7}},
        "s:Body": {
            "o:order": {
                "_xmlns:o": "urn:o",
                "o:customer": "C-1",
                "o:line": [{"o:item": "lamp", "o:price": 12.5}, None],
            }
        },
    }


@pytest.mark.parametrize(("document", "value"), (KEPT | WHOLE).items())
def test_nothing_of_a_document_is_lost(document: str, value: object) -> None:
    assert json.loads(json_of(document)) == value


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("01", "1"),
        ("+7", "7"),
        ("-9223372036854775808", "-9223372036854775808"),
        ("9223372036854775808", "9223372036854775808"),
        ("12.50", "12.50"),
        (".5", "0.5"),
        ("1E-3", "0.001"),
        ("9" * 39, f'"{"9" * 39}"'),
        ("1e400", '"1e400"'),
        ("0." + "0" * 38 + "1", '"0.' + "0" * 38 + '1"'),
        ("True", "true"),
        ("1_000", '"1_000"'),
        ("NaN", '"NaN"'),
        ("", '""'),
        (' say "no" ', '"say \\"no\\""'),
    ],
)
def test_a_text_is_a_number_a_boolean_or_a_string(text: str, wanted: str) -> None:
    assert scalar(text) == wanted


@given(st.text())
def test_every_text_is_json(text: str) -> None:
    json.loads(scalar(text))


def test_a_long_text_is_not_remembered_and_many_are_forgotten() -> None:
    found = Remembered(quoted)
    assert found["x" * 65] == f'"{"x" * 65}"'
    assert not found
    for number in range(16_385):
        assert found[str(number)] == f'"{number}"'
    assert len(found) == 1


def test_a_name_that_expat_does_not_know_is_said() -> None:
    with pytest.raises(NotReadable, match="not well-formed"):
        json_of("<\u02ff\U00010000/>")
