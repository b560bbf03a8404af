"""A document whose shape is known is read as the parser reads it, or is left to the parser."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reliquary.spark.pipelines import decode
from reliquary.spark.pipelines.content import Content, Damage
from reliquary.spark.pipelines.shapes import LONGEST_SHAPE, MOST_SHAPES, Shapes, cut
from tests.spark.pipelines.documents import AS_FROM_XML, ENVELOPE, FAULT, KEPT


def parsed(document: str, monkeypatch: pytest.MonkeyPatch) -> Content | Damage:
    """Read a document in a process that knows no shape."""
    monkeypatch.setattr(decode, "SHAPES", Shapes())
    return decode.decode_body(document.encode())


def warmed(document: str, monkeypatch: pytest.MonkeyPatch) -> Shapes:
    """Let a process read a document twice, so that it knows its shape."""
    shapes = Shapes()
    monkeypatch.setattr(decode, "SHAPES", shapes)
    for _ in range(2):
        decode.decode_body(document.encode())
    return shapes


def test_an_envelope_of_a_known_shape_needs_no_parser(monkeypatch: pytest.MonkeyPatch) -> None:
    other = ENVELOPE.replace("C-1", "C-2").replace('mustUnderstand="1"', 'mustUnderstand="0"')
    wanted = parsed(other, monkeypatch)
    shapes = warmed(ENVELOPE, monkeypatch)
    monkeypatch.setattr(decode, "root_of", None)
    assert shapes.read(cut(other)) == wanted == decode.decode_body(other.encode())


@pytest.mark.parametrize("document", [*AS_FROM_XML, *KEPT])
def test_a_document_that_comes_again_says_what_it_said(
    document: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = parsed(document, monkeypatch)
    warmed(document, monkeypatch)
    assert decode.decode_body(document.encode()) == wanted


HOSTILE = ["]]>", "&amp;", "&no;", "&", ">", '"', "'", "<b/>", "<!--", "-->", "<![CDATA[x]]>", "\r", "\x01",
           "\t", "\n", " ", "\ufffe", "%s", "\0", "</a>", "<?pi?>", "=", ' y="2"', "\u00a0"]  # fmt: skip
pieces = st.lists(
    st.sampled_from(["1", "x", *HOSTILE]) | st.text(st.characters(codec="utf-8"), max_size=3), max_size=4
)
TEMPLATES = [
    "<a>{}</a>",
    '<a x="{}"/>',
    "<a x='{}' y=\"{}\">{}</a>",
    '<a x="{}" xmlns:o="urn:o">{}<o:b>{}</o:b>{}</a>',
    "<a><b>{}</b>{}<b c = \"{}\" d='1'/></a>",
    '<?xml version="1.0"?>\n<a><b>{}</b></a>{}',
    '<a xmlns="{}">{}</a>',
]


@given(
    st.sampled_from(TEMPLATES),
    st.lists(pieces, min_size=4, max_size=4),
    st.lists(pieces, min_size=4, max_size=4),
)
@example(TEMPLATES[1], [["1"]] * 4, [["1>2"]] * 4)
@example(TEMPLATES[0], [["1"]] * 4, [["a]]>b"]] * 4)
@example(TEMPLATES[2], [["1"]] * 4, [["1>2"], ["'"], ["x"], []])
@example(TEMPLATES[6], [["urn:a"]] * 4, [["urn:b"]] * 4)
def test_no_value_makes_a_known_shape_say_something_else(
    template: str, first: list[list[str]], second: list[list[str]]
) -> None:
    one, other = (template.format(*map("".join, values)) for values in (first, second))
    with pytest.MonkeyPatch.context() as patched:
        wanted = parsed(other, patched)
        warmed(one, patched)
        assert decode.decode_body(other.encode()) == wanted


def test_the_text_of_a_fault_is_of_its_own_message(monkeypatch: pytest.MonkeyPatch) -> None:
    warmed(FAULT, monkeypatch)
    found = decode.decode_body(FAULT.replace("no lamps", "no oil").encode())
    assert isinstance(found, Content)
    assert found.soap is not None
    assert found.soap.fault == "s:Serverno oil"


def test_shapes_that_never_come_again_are_not_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = Shapes()
    monkeypatch.setattr(decode, "SHAPES", shapes)
    for number in range(5000):
        decode.decode_body(f"<a{number}>1</a{number}>".encode())
    assert not shapes._plans
    assert len(shapes._seen) < 5000


def test_many_and_long_shapes_cost_bounded_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    shapes = Shapes()
    monkeypatch.setattr(decode, "SHAPES", shapes)
    for number in range(MOST_SHAPES + 1):
        for _ in range(2):
            decode.decode_body(f"<a{number}>1</a{number}>".encode())
    assert len(shapes._plans) == 1
    shapes = warmed(f"<a>{'<b/>' * (LONGEST_SHAPE // 4)}</a>", monkeypatch)
    assert not shapes._plans
