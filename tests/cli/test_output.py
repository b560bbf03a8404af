"""Tables and JSON lines."""

from __future__ import annotations

import sys

import pytest

from reliquary.cli.output import print_fields, print_json, print_table, wants_json


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
