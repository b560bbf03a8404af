"""Errors cross processes on their way to the user of a query: class and sentence must arrive."""

from __future__ import annotations

import pickle

import pytest

from reliquary.client.errors import AccessDenied, ReliquaryError, ServerUnreachable, error_of
from reliquary.spark import errors
from reliquary.spark.errors import JavaMissing, ServerRefused, SparkFault, explained, explaining


def test_a_fault_travels_between_processes() -> None:
    again = pickle.loads(pickle.dumps(JavaMissing("install one")))  # noqa: S301 - our own
    assert isinstance(again, SparkFault)
    assert str(again) == "install one"


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("SERVER_UNREACHABLE", errors.ServerGone),
        ("OUTCOME_UNKNOWN", errors.ServerGone),
        ("UNAUTHENTICATED", errors.TokenRefused),
        ("ACCESS_DENIED", errors.TokenRefused),
        ("QUEUE_NOT_FOUND", errors.QueueMissing),
        ("OTHER_QUEUE", errors.QueueReplaced),
        ("DATA_LOST", errors.DataLost),
        ("WRITER_TAKEN", errors.WriterTaken),
        ("STAGE_GONE", errors.StagesGone),
        ("BATCH_TOO_LARGE", errors.BadOption),
    ],
)
def test_each_code_of_the_server_has_its_name_here(code: str, fault: type[SparkFault]) -> None:
    reported = explained(error_of(code, "so it is."), "reading")
    assert type(reported) is fault
    assert str(reported).startswith("reading: so it is: ")


def test_another_code_is_reported_as_it_is() -> None:
    reported = explained(ReliquaryError("DISK_ON_FIRE", "it burns"), "writing")
    assert type(reported) is ServerRefused
    assert str(reported) == "writing: it burns"


def test_only_errors_of_the_client_are_explained() -> None:
    with pytest.raises(errors.TokenRefused, match="give a token") as refused, explaining("reading"):
        raise AccessDenied("ACCESS_DENIED", "no")
    assert isinstance(refused.value.__cause__, AccessDenied)
    with pytest.raises(ZeroDivisionError), explaining("reading"):
        raise ZeroDivisionError
    with pytest.raises(errors.ServerGone), explaining("reading"):
        raise ServerUnreachable


@pytest.mark.parametrize(
    ("managers", "queues", "sentence"),
    [
        (["south"], "orders", "no"),
        (["north", "south"], "orders", "the queue 'orders at south': no"),
        (["north", "south"], "", "the manager 'south': no"),
    ],
)
def test_an_error_names_its_manager_where_there_are_several(
    managers: list[str], queues: str, sentence: str
) -> None:
    with pytest.raises(AccessDenied) as refused, errors.placed(managers, "south", queues):
        raise AccessDenied("ACCESS_DENIED", "no")
    assert (refused.value.code, refused.value.sentence) == ("ACCESS_DENIED", sentence)


@pytest.mark.parametrize(
    "fault",
    [
        errors.queue_missing("orders"),
        errors.queue_replaced("orders"),
        errors.consumer_missing("orders", "lake"),
        errors.data_lost("orders", "lake", 5, 9),
        errors.feed_rewound("orders", 5),
    ],
)
def test_a_client_that_may_go_on_is_informed_how(fault: SparkFault) -> None:
    assert "'orders'" in str(fault)
    assert "failOnDataLoss=false" in str(fault)
