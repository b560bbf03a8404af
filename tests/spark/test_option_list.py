"""Every option has one name here; a name that Kafka's source has is refused with the name to use."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from reliquary.spark.errors import BadOption
from reliquary.spark.option_list import ALL, KAFKA, OPTIONS, SOURCE, TARGET, OptionUse, known


def test_options_are_known_by_any_capitals() -> None:
    assert known({"URL": "a", "maxrowsperbatch": "5"}, OptionUse.STREAM) == {
        "url": "a",
        "maxRowsPerBatch": "5",
    }


def test_what_spark_adds_for_a_sink_is_passed_over() -> None:
    assert known({"queryName": "x"}, TARGET) == {}
    with pytest.raises(BadOption, match="there is no option queryName here"):
        known({"queryName": "x"}, SOURCE)


@pytest.mark.parametrize("name", KAFKA)
def test_a_name_of_kafka_is_refused_with_the_name_to_use(name: str) -> None:
    with pytest.raises(BadOption, match=f"^{name} is an option of Kafka: "):
        known({name: "x"}, ALL)


def test_the_advice_names_options_that_there_are() -> None:
    names = {option.name for option in OPTIONS}
    for name, advice in KAFKA.items():
        assert name not in names
        assert advice.startswith("leave it out") or advice.split()[1].strip(",;") in {*names, "a"}, advice


def test_the_guide_and_the_refusals_lead_to_equal_options() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "guides" / "spark.md").read_text()
    rows = [line.split("|")[1:3] for line in guide.partition("## From Kafka")[2].splitlines() if "|" in line]
    names = {option.name for option in OPTIONS}
    found = {}
    for kafka, ours in rows:
        for name in re.findall("`([^`]+)`", kafka):
            if name in KAFKA:
                found[name] = {*re.findall("`([^`]+)`", ours)} & names
    assert len(found) > 10
    for name, options in found.items():
        assert options & {*re.findall(r"\w+", KAFKA[name])}, f"{name}: {KAFKA[name]}"


def test_any_other_setting_of_a_kafka_client_is_refused() -> None:
    with pytest.raises(BadOption, match=r"kafka\.max\.poll\.records is an option of Kafka: leave it out"):
        known({"kafka.max.poll.records": "5"}, SOURCE)
