"""The blocking directory offers every method of the asynchronous one."""

from __future__ import annotations

from reliquary.client.directory import AsyncDirectory
from reliquary.client.sync.directory import Directory
from tests.client.sync.mirror import differences


def test_each_method_has_an_async_counterpart() -> None:
    assert differences(Directory, AsyncDirectory, inside=set()) == []
