"""Tests that the documentation which the specification requires (6, 6.1.13, 6.2.3) is in the guide, and is
true."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from reliquary.protocols.httpr.attributes import READ
from reliquary.protocols.httpr.fields import CHOOSABLE, OURS, chosen_header
from reliquary.protocols.httpr.message_encode import encode_message
from reliquary.protocols.httpr.routing import sink_of
from tests.queueing.full_messages import FULL
from tests.scenes.httpr.harness import Side

GUIDE = (Path(__file__).parents[3] / "docs" / "guides" / "httpr.md").read_text()
MAPPING = GUIDE.partition("## How message attributes map\n")[2].partition("\n## ")[0]
ROWS = {row[1]: row[2] for row in re.finditer(r"^\| (`.*?) \| (.*) \|$", MAPPING, re.MULTILINE)}
MESSAGE_FIELDS = [
    *("target-uri", "class-of-service", "priority", "user-id", "encoding", "reply-uri", "message-id"),
    *("correlation-id", "put-time", "expiry", "content-type"),
]
"""6.2.3 to 6.2.13; the framing of a message is no attribute."""


def documented() -> set[str]:
    """Return the fields of the table; `-tag` beside `app-reliquary-body-type` is `app-reliquary-tag`."""
    found = set()
    for names in ROWS:
        first, *others = re.findall(r"`([^`]+)`", names)
        found.add(first)
        for other in others:
            found |= {OURS + other[1:], first.rpartition("-")[0] + other}
    return found


@pytest.mark.spec("HR-085")
def test_every_field_of_a_message_has_its_row() -> None:
    assert [name for name in MESSAGE_FIELDS if name not in documented()] == []


@pytest.mark.spec("HR-085", "HR-107")
def test_every_product_field_that_we_write_or_read_has_its_row_and_the_prefix() -> None:
    header, _ = encode_message(FULL.changed(carrier_header="", stored_body=None))
    written = {line.partition(":")[0] for line in header.splitlines()}
    ours = {*READ, *written} - {*MESSAGE_FIELDS}
    assert len(written & ours) > 10
    assert [name for name in ours if not name.startswith("app-")] == []
    assert sorted(ours - documented()) == []


@pytest.mark.spec("HR-107")
def test_the_fields_that_an_application_may_choose_are_named_and_the_example_is_true() -> None:
    (sentence,) = [line for line in MAPPING.splitlines() if line.startswith("An application chooses")]
    assert tuple(re.findall(r"`([a-z-]+)`", sentence))[: len(CHOOSABLE)] == CHOOSABLE
    (example,) = re.findall(r"httpr=({.*?})\)", MAPPING)
    assert chosen_header(ast.literal_eval(example)).startswith("content-type:text/xml\n")


@pytest.mark.spec("HR-110")
def test_what_a_destination_means_is_reported_and_each_example_names_a_queue() -> None:
    reported = ROWS["`target-uri`"]
    assert "a queue's path name follows `#`:" in reported
    examples = re.findall(r"`([^`#]+)`", reported.partition("follows `#`:")[2])
    assert examples == ["orders", "private$/orders", "./public", "orders;retry"]
    state = Side("yourhost").httpr.state
    for example in examples:
        assert sink_of(state, f"httpr://yourhost/httpr/mq#{example}", "") == example
