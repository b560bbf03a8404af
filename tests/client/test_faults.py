"""Exceptions of lower packages become errors of the client."""

from __future__ import annotations

import pytest

from reliquary import BadRequest, QueueNotFound, ReliquaryError, StoreUnusable
from reliquary.base.faults import StartFailed, StoreDamage, StoreFailure, UsageError
from reliquary.base.hresult import HResult
from reliquary.client.faults import translate_errors
from reliquary.queueing.model.administration import Refusal
from reliquary.queueing.model.events import Answer
from reliquary.views.administration import NotDone


@pytest.mark.parametrize(
    ("raised", "kind", "code"),
    [
        (UsageError("x"), BadRequest, "INVALID_PARAMETER"),
        (ValueError("x"), BadRequest, "INVALID_PARAMETER"),
        (Refusal(Answer(HResult.QUEUE_NOT_FOUND, "x")), QueueNotFound, "QUEUE_NOT_FOUND"),
        (NotDone("x"), ReliquaryError, "NOT_DONE"),
        (StoreFailure("full", "x"), StoreUnusable, "STORE_FULL"),
        (StoreDamage("x"), StoreUnusable, "STORE_DAMAGED"),
        (StartFailed("x"), StoreUnusable, "START_FAILED"),
    ],
)
def test_who_is_wrong_picks_the_error(raised: Exception, kind: type[ReliquaryError], code: str) -> None:
    with pytest.raises(kind, match="x") as error, translate_errors():
        raise raised
    assert error.value.code == code


def test_a_fault_of_ours_stays_what_it_is() -> None:
    with pytest.raises(AssertionError), translate_errors():
        raise AssertionError
