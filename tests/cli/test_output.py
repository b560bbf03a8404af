"""Tests of the output as tables and as JSON lines."""

from __future__ import annotations

import json
import sys

import pytest

from reliquary.cli.output import (
    print_fields,
    print_json,
    print_record,
    print_records,
    print_table,
    wants_json,
)
from tests.client.labels import LabelInfo, WordInfo

WORDS = {"words": ("length", "text")}
RUSH = LabelInfo(queue="orders", label="rush", words=[WordInfo(text="rush", length=4)], initials=["r"])
BARE = LabelInfo(queue="plain", label="", words=[], initials=[])


@pytest.mark.parametrize("person", [True, False])
def test_the_reader_decides_unless_it_is_said(monkeypatch: pytest.MonkeyPatch, person: bool) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: person)
    assert wants_json(None) is not person
    assert wants_json(True)
    assert not wants_json(False)


def test_json_is_one_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_json([{"a": 1}, {"b": "ü"}])
    assert capsys.readouterr().out == '{"a":1}\n{"b":"ü"}\n'


def test_a_table_has_numbers_to_the_right(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("name", "count"), [("a", 1), ("b", 1000)])
    lines = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert lines == ["name  count", "a         1", "b      1000"]


def test_fields_are_shown_for_a_person(capsys: pytest.CaptureFixture[str]) -> None:
    print_fields({"a": None, "long": True, "b": "x"})
    assert capsys.readouterr().out == "a     -\nlong  yes\nb     x\n"


def test_a_table_has_the_number_of_parts_and_lists_in_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_records([RUSH, BARE], ("queue", "label", "words", "initials"), False, WORDS)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines == [["queue", "label", "words", "initials"], ["orders", "rush", "1", "r"], ["plain", "0"]]


def test_one_record_is_its_fields_and_then_its_parts(capsys: pytest.CaptureFixture[str]) -> None:
    print_record(RUSH, False, WORDS)
    assert capsys.readouterr().out.splitlines() == [
        "queue     orders",
        "label     rush",
        "words     1",
        "initials  r",
        "",
        "length  text",
        "     4  rush",
    ]


def test_what_is_empty_is_a_dash_and_has_no_table(capsys: pytest.CaptureFixture[str]) -> None:
    print_record(BARE, False, WORDS)
    assert capsys.readouterr().out.splitlines() == [
        "queue     plain",
        "label     -",
        "words     0",
        "initials  -",
    ]


def test_a_pipe_gets_one_json_object_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    print_records([RUSH, BARE], ("queue",), None, WORDS)
    print_record(RUSH, None, WORDS)
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [each["queue"] for each in found] == ["orders", "plain", "orders"]
    assert found[0]["words"] == [{"text": "rush", "length": 4}]
