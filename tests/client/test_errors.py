"""Tests errors: every code of the API has its class, and each can travel between processes."""

from __future__ import annotations

import pickle

import pytest

from reliquary import OutcomeUnknown, QueueNotFound, QuotaExceeded, ReliquaryError, ServerUnreachable
from reliquary.base.hresult import HResult
from reliquary.client import errors
from reliquary.client.errors import error_of

NO_ERROR = {HResult.OK, HResult.IO_TIMEOUT}


@pytest.mark.parametrize("status", sorted(set(HResult) - NO_ERROR), ids=lambda status: status.name)
def test_every_status_has_its_class(status: HResult) -> None:
    error = error_of(status.name, "a sentence")
    assert type(error) is not ReliquaryError
    assert (error.code, str(error)) == (status.name, "a sentence")


def test_an_unknown_code_is_judged_by_the_status() -> None:
    assert isinstance(error_of("STOPPING", "x", 503), ServerUnreachable)
    assert isinstance(error_of("NEW_QUOTA", "x", 507), QuotaExceeded)
    assert type(error_of("HTTP_500", "x", 500)) is ReliquaryError


def test_an_error_can_be_sent_to_another_process() -> None:
    for kind in (QueueNotFound, OutcomeUnknown, ServerUnreachable):
        again = pickle.loads(pickle.dumps(kind("CODE", "a sentence")))  # noqa: S301
        assert (type(again), again.code, again.sentence) == (kind, "CODE", "a sentence")


def test_the_drawing_names_every_class() -> None:
    assert errors.__doc__ is not None
    for name in vars(errors):
        kind = getattr(errors, name)
        if isinstance(kind, type) and issubclass(kind, ReliquaryError):
            assert f" {name} " in f"{errors.__doc__} ".replace("\n", " "), name
