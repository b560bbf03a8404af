"""Tests of the drawings that are written as SVG text."""

from __future__ import annotations

from xml.etree import ElementTree

from tools.drawing import DrawingRow, lanes_svg, layers_svg

NAMESPACE = "{http://www.w3.org/2000/svg}"


def drawn(text: str, kind: str) -> list[ElementTree.Element]:
    return list(ElementTree.fromstring(text).iter(NAMESPACE + kind))


def test_a_step_has_its_text_a_dot_for_each_source_and_a_head_for_each_side() -> None:
    steps = [DrawingRow("go <on>", ("a", "c"), "b"), DrawingRow("stay", ("a",), "a")]
    svg = lanes_svg("title", ["a", "b", "c"], steps)
    assert [each.text for each in drawn(svg, "text")] == ["a", "b", "c", "go <on>", "stay"]
    assert len(drawn(svg, "circle")) == 3
    heads = [each for each in drawn(svg, "path") if each.get("d", "").endswith("Z")]
    assert len(heads) == 2


def test_all_of_a_drawing_lies_inside_its_width() -> None:
    svg = lanes_svg("title", ["one", "two"], [DrawingRow("a long text of a step", ("one",), "two")])
    width = float(ElementTree.fromstring(svg).get("width", ""))
    boxes = [(float(e.get("x", 0)), float(e.get("width", 0))) for e in drawn(svg, "rect")]
    assert all(x + wide <= width for x, wide in boxes)


def test_layers_stand_below_each_other() -> None:
    svg = layers_svg("title", [(["top"], "first"), (["left", "right"], "second")])
    rows = {each.text: float(each.get("y", 0)) for each in drawn(svg, "text")}
    assert rows["top"] == rows["first"] < rows["left"] == rows["right"] == rows["second"]
