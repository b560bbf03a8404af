"""MessageIDs become identifiers, and are written again as they came wherever that is possible."""

from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.wsrm.message_ids import (
    identifier_of,
    is_reversible,
    message_id_of,
    object_text,
    read_object,
)
from reliquary.queueing.model.message import FOREVER, NO_OBJECT, ObjectId

GUID = "5b1f0c6e-3d0a-4c1e-9a77-0e2f6c8d4b10"
identifiers = st.builds(ObjectId, st.uuids(), st.integers(0, FOREVER)).filter(lambda each: each != NO_OBJECT)


@given(identifiers)
def test_an_identifier_is_read_back(identifier: ObjectId) -> None:
    text = message_id_of(identifier)
    assert identifier_of(text) == identifier
    assert is_reversible(text)
    assert read_object(object_text(identifier)) == identifier


@pytest.mark.parametrize(
    ("text", "identifier"),
    [
        (f"urn:uuid:{GUID}", ObjectId(UUID(GUID), 1)),
        (f"uuid:43@{GUID}", ObjectId(UUID(GUID), 43)),
        (f"uuid:0@{GUID}", ObjectId(UUID(GUID), 0)),
        (f"uuid:4294967295@{GUID}", ObjectId(UUID(GUID), 4294967295)),
    ],
)
def test_two_forms_are_written_again_as_they_came(text: str, identifier: ObjectId) -> None:
    assert identifier_of(text) == identifier
    assert message_id_of(identifier) == text


@pytest.mark.parametrize(
    "text",
    [
        f"uuid:1@{GUID}",
        f"uuid:043@{GUID}",
        f"uuid:4294967296@{GUID}",
        f"uuid:0@{UUID(int=0)}",
        f"urn:uuid:{GUID.upper()}",
        f"urn:uuid:{GUID}0",
        "urn:uuid:2c16ebdd-1787-4e12-ab8b-45673200000000x",
        "any text at all",
        "http://host/1",
    ],
)
def test_other_text_has_an_identifier_of_its_own(text: str) -> None:
    identifier = identifier_of(text)
    assert not is_reversible(text)
    assert identifier.uniquifier == 1
    assert identifier == identifier_of(text)
    assert identifier != identifier_of(text + "!")
    assert message_id_of(identifier) != text


def test_no_text_is_no_identifier() -> None:
    assert identifier_of("") == NO_OBJECT
    assert not is_reversible("")


@pytest.mark.parametrize("text", ["", "uuid:1@x", f"urn:uuid:{GUID}", f"uuid:4294967296@{GUID}"])
def test_other_text_is_no_correlation(text: str) -> None:
    with pytest.raises(ValueError, match="uuid:number@guid"):
        read_object(text)
