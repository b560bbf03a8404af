"""Tests records: the client asks with the fields that the API knows."""

from __future__ import annotations

import msgspec
import pytest

from reliquary.client import records
from reliquary.net.api import read, send
from reliquary.views.queues import Settings


def names(struct: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(struct)}


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (records.Receive, read.ReceiveIn),
        (records.Peek, read.PeekIn),
        (records.LookUp, read.LookUpIn),
        (records.Move, send.MoveIn),
    ],
)
def test_the_api_knows_what_we_ask(ours: type[msgspec.Struct], theirs: type[msgspec.Struct]) -> None:
    assert names(ours) <= names(theirs)


def test_what_can_be_chosen_is_what_is_shown() -> None:
    assert set(records.QueueOptions.__annotations__) == names(Settings)


def test_a_report_without_damage_is_sound() -> None:
    assert records.StoreReport(rows={}).is_sound
    assert not records.StoreReport(rows={}, damaged=1).is_sound
