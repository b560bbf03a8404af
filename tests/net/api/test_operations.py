"""Tests of the descriptions that handlers give of themselves."""

from __future__ import annotations

import pytest

from reliquary.net.api.operations import AFTER, LIMIT, names_of, operation, operation_of


def test_a_declaration_stays_at_its_handler() -> None:
    @operation("Do it", status=204)
    def handler() -> None: ...

    assert operation_of(handler).summary == "Do it"
    assert operation_of(handler).status == 204


def test_a_handler_without_a_declaration_is_found_out() -> None:
    with pytest.raises(AssertionError, match="is not declared by @operation"):
        operation_of(lambda: None)


def test_the_names_of_a_query_come_from_its_declarations() -> None:
    assert names_of((AFTER, LIMIT)) == ("after", "limit")
