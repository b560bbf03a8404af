"""What the directory says about names elsewhere."""

from __future__ import annotations

from uuid import UUID

from reliquary.queueing.published import computer_name, published_queue, resolve_list
from tests.queueing.manager_harness import Bench

GUID = UUID("0F0E0D0C-0B0A-0908-0706-050403020100")


def test_what_the_directory_does_not_know_is_nothing() -> None:
    state = Bench().state
    assert (resolve_list(state, GUID), published_queue(state, GUID)) == (None, None)
    assert computer_name(state, GUID) == ""
