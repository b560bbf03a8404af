"""The shape of a path, and the table that answers by it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from reliquary.client.nouns import NOUNS
from reliquary.net.api.administration import routes_of
from reliquary.net.api.description import with_description
from reliquary.net.api.routes import PREFIX, ROUTES, allowed, merged, shape_of
from reliquary.net.feed.endpoint import FeedEndpoint
from reliquary.queueing.model.administration import Plane

DOCUMENT = Path(__file__).parents[3] / "docs" / "reference" / "api.md"


@pytest.mark.parametrize(
    ("path", "shape", "name"),
    [
        ("/api/v1/health", "health", ""),
        ("/api/v1/queues/orders/messages", "queues/*/messages", "orders"),
        ("/api/v1/queues/private$/orders/messages", "queues/*/messages", "private$/orders"),
        ("/api/v1/queues/orders;retry/peek", "queues/*/peek", "orders;retry"),
        ("/api/v1/receipts/7", "receipts/*", "7"),
        ("/api/v1/receipts/", "receipts/*", ""),
        ("/api/v1/", "", ""),
        ("/api/v1", "", ""),
        ("/api/v10/health", "", ""),
        ("*", "", ""),
    ],
)
def test_a_path_is_cut_at_its_first_and_last_slash(path: str, shape: str, name: str) -> None:
    assert shape_of(path) == (shape, name)


def test_the_document_names_every_path_and_method() -> None:
    data_plane = DOCUMENT.read_text(encoding="utf-8").split("## Control plane")[0]
    documented: set[tuple[str, str]] = set()
    for method, path in re.findall(r"`(GET|POST|PUT|PATCH|DELETE) (/[^`? ]*)", data_plane):
        if not path.startswith(("/msmq/", "/stages/")):  # SRMP and parts of batches have mounts of their own
            documented.add((method, re.sub(r"\{\w+\}", "x", path)))
    for verb in re.findall(r"`(/(?:abort|prepare))`", data_plane):
        documented.add(("POST", f"/transactions/x{verb}"))
    no_handler: Any = None  # the table is asked, not its handlers
    of_nouns = [routes_of(noun, no_handler) for noun in NOUNS if noun.plane is Plane.DATA]
    routes = with_description(
        "", merged(ROUTES, *of_nouns, FeedEndpoint(no_handler, no_handler, no_handler).routes())
    )
    answered = {(method, shape) for shape, methods in routes.items() for method in methods}
    assert {(method, shape_of(PREFIX + path[1:])[0]) for method, path in documented} == answered


def test_a_path_has_the_methods_of_all_tables() -> None:
    get, post = {"GET": ROUTES["health"]["GET"]}, {"POST": ROUTES["receipts/*"]["POST"]}
    assert merged({"a": get, "b": get}, {"a": post}) == {"a": {**get, **post}, "b": get}
    with pytest.raises(AssertionError, match="two handlers of one method of a"):
        merged({"a": get}, {"a": get})


def test_head_and_options_are_always_allowed_where_they_make_sense() -> None:
    assert allowed(ROUTES["health"]) == "GET, HEAD, OPTIONS"
    assert allowed(ROUTES["receipts/*"]) == "POST, OPTIONS"
