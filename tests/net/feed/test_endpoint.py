"""Tests the endpoint: its paths are the API's, beside those that were there."""

from __future__ import annotations

from reliquary.net.api.routes import ROUTES
from reliquary.server.api import ApiEndpoint
from tests.client.served import Served
from tests.net.feed.asked import call
from tests.server.endpoints import endpoint_of


def test_the_paths_of_feeds_are_not_those_of_the_api(server: Served) -> None:
    routes = endpoint_of(server.server, ApiEndpoint).feeds.routes()
    assert not set(routes) & set(ROUTES)
    for shape, methods in routes.items():
        path = "/" + shape.replace("*", "nowhere")
        status, answer = call(server.data, "TRACE", path)
        assert (status, answer["code"]) == (405, "METHOD_NOT_ALLOWED")
        assert all(method in answer["error"] for method in methods)
