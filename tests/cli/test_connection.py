"""Where the server is."""

from __future__ import annotations

import click
import pytest

from reliquary import BadRequest
from reliquary.cli.connection import Where, connected


@pytest.mark.parametrize("where", [Where("folder", None), Where("http://127.0.0.1:1", "folder")])
def test_only_addresses_are_taken(where: Where) -> None:
    with click.Context(click.Command("x"), obj=where), pytest.raises(click.UsageError, match="'folder'"):
        connected()


def test_without_a_port_there_is_no_next_one() -> None:
    with click.Context(click.Command("x"), obj=Where("http://host", None)), pytest.raises(BadRequest):
        connected()


def test_nobody_is_spoken_to_before_the_first_request() -> None:
    with click.Context(click.Command("x"), obj=Where("http://127.0.0.1:9", None)):
        connected().close()


def test_queues_over_mqqp_need_no_control_plane_and_no_token() -> None:
    where = Where("mqqp://127.0.0.1:1/orders", "http://127.0.0.1:2", "a token of another server")
    with click.Context(click.Command("x"), obj=where), connected() as manager:
        assert manager.queue().name == "orders"
