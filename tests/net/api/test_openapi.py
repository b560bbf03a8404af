"""Tests the description of an API from declarations alone."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reliquary.net.api.errors import OWN_CODES, STATUS
from reliquary.net.api.openapi import Described, document
from reliquary.net.api.operations import AFTER, Operation, Query


class Lamp(msgspec.Struct, forbid_unknown_fields=True):
    """A lamp is the example of a body that this API takes and returns."""

    name: str
    watts: int = 60


def described(method: str = "POST", path: str = "/lamps/{lamp}", **said: Any) -> Described:
    return Described(method, path, Operation(summary="Do it", **said), {})


def one(row: Described) -> Any:
    return document("Lamps", "1", [row])["paths"][row.path][row.method.lower()]


def test_types_become_schemas_that_bodies_and_answers_refer_to() -> None:
    whole = document("Lamps", "1", [described(body=Lamp, body_required=True, answer=Lamp, status=201)])
    made = whole["paths"]["/lamps/{lamp}"]["post"]
    place = {"$ref": "#/components/schemas/Lamp"}
    assert whole["openapi"] == "3.1.0"
    assert made["requestBody"] == {"required": True, "content": {"application/json": {"schema": place}}}
    assert made["responses"]["201"]["content"] == {"application/json": {"schema": place}}
    assert whole["components"]["schemas"]["Lamp"]["required"] == ["name"]
    assert whole["components"]["schemas"]["Lamp"]["additionalProperties"] is False


def test_parameters_of_path_and_query_are_listed() -> None:
    where = Query(name="where", help="A condition.", repeated=True)
    made = one(described("GET", query=(AFTER, where)))
    assert [(each["name"], each["in"], each["required"]) for each in made["parameters"]] == [
        ("lamp", "path", True), ("after", "query", False), ("where", "query", False),
    ]  # fmt: skip
    assert made["parameters"][2]["schema"] == {"type": "array", "items": {"type": "string"}}


def test_an_answer_without_a_body_and_one_of_another_form() -> None:
    assert one(described(status=204))["responses"]["204"] == {"description": "Done."}
    text = one(described(answers=("text/plain",), statuses={503: "Not now."}))["responses"]
    assert text["200"]["content"] == {"text/plain": {"schema": {"type": "string"}}}
    assert set(text["503"]["content"]) == {"text/plain", "application/json"}


def test_every_refusal_is_described_with_its_codes() -> None:
    refusals = document("Lamps", "1", [described()])["components"]["responses"]
    for status, code in [*((number, each.name) for each, number in STATUS.items()), *OWN_CODES]:
        if status >= 400:
            assert code in refusals[str(status)]["description"]


def test_a_method_is_described_once() -> None:
    with pytest.raises(AssertionError, match="is described twice"):
        document("Lamps", "1", [described(), described()])
