"""Tests of the results of directory operations and of the status that an application gets."""

from __future__ import annotations

import pytest

from reliquary.base.hresult import HResult
from reliquary.queueing.directory.results import STATUS, DirectoryResult, answer_of


@pytest.mark.spec("DM-070")
def test_there_are_the_seven_results_of_the_specification() -> None:
    assert len(DirectoryResult) == 7
    assert set(STATUS) == set(DirectoryResult)


def test_an_answer_has_the_status_and_the_sentence_of_its_result() -> None:
    answer = answer_of(DirectoryResult.NOT_CONNECTED)
    assert (answer.status, answer.why) == (HResult.NO_DS, HResult.NO_DS.sentence)
    assert not answer.succeeded
    assert answer_of(DirectoryResult.SUCCESS).succeeded
    assert answer_of(DirectoryResult.OBJECT_NOT_FOUND, "an unknown site").why == "an unknown site"
