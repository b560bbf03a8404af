"""Limits that the description shows do not change what is decoded."""

from __future__ import annotations

from typing import Annotated

import msgspec

from reliquary.net.api.limits import LookupId, either, limited
from reliquary.queueing.model.tables import LAST_ID


def test_limits_are_shown_and_not_checked_while_decoding() -> None:
    kind = Annotated[int, limited(minimum=1)]
    assert msgspec.json.schema(kind) == {"type": "integer", "minimum": 1}
    assert msgspec.json.decode(b"0", type=kind) == 0


def test_fields_that_depend_on_each_other_are_cases() -> None:
    rule = either({"next": False}, {"cursor": ...}, {"seek": ["first"]})
    assert rule.extra_json_schema == {
        "anyOf": [
            {"properties": {"next": {"const": False}}, "required": []},
            {"properties": {"cursor": {"type": "string", "minLength": 1}}, "required": ["cursor"]},
            {"properties": {"seek": {"enum": ["first"]}}, "required": ["seek"]},
        ]
    }


def test_every_lookup_id_that_the_pattern_allows_is_in_range() -> None:
    assert msgspec.json.schema(LookupId)["pattern"] == "^([0-9]{1,17}|[0-4][0-9]{17})$"
    assert int("4" + "9" * 17) <= LAST_ID
