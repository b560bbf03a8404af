"""The content of an element is cut out byte by byte, and means elsewhere what it meant there."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.protocols.wsrm.codec.fragments import body_content, content_of, with_attribute
from reliquary.wire.xml import Element, root_of

OUTER = 'xmlns:s="urn:s" xmlns:n="urn:n" xmlns:xsd="urn:xsd"'


def cut(data: str) -> str:
    root = root_of(data.encode())
    body = root[-1]
    content = body_content(data.encode(), root, body)
    assert canonical(root_of(b"<e>" + content + b"</e>")) == canonical(body)
    return content.decode()


def canonical(element: Element) -> list[tuple[object, ...]]:
    """Return the meaning of an element independent of its prefixes: names, attributes, text."""
    below = [(each.tag, dict(each.attrib), each.text, each.tail) for each in element.iter()][1:]
    return [(element.text,), *below]


@pytest.mark.parametrize(
    ("body", "content"),
    [
        ("<s:Body></s:Body>", ""),
        ("<s:Body/>", ""),
        ("<s:Body />", ""),
        ("<s:Body a='/'></s:Body>", ""),
        ("<s:Body> <a/> </s:Body>", " <a/> "),
        ("<s:Body><n:a/></s:Body>", '<n:a xmlns:n="urn:n"/>'),
        ("<s:Body>\n <n:a b='1'/></s:Body>", "\n <n:a xmlns:n=\"urn:n\" b='1'/>"),
        ("<s:Body><a n:b='1'/></s:Body>", "<a xmlns:n=\"urn:n\" n:b='1'/>"),
        ("<s:Body><a t='xsd:int'/></s:Body>", "<a xmlns:xsd=\"urn:xsd\" t='xsd:int'/>"),
        ("<s:Body><a>xsd:int</a></s:Body>", '<a xmlns:xsd="urn:xsd">xsd:int</a>'),
        ("<s:Body><a>in:x -n:x .n:x</a></s:Body>", "<a>in:x -n:x .n:x</a>"),
        ("<s:Body><n:a xmlns:n='urn:m'/></s:Body>", "<n:a xmlns:n='urn:m'/>"),
        ("<s:Body><n:a/>t<n:b/></s:Body>", '<n:a xmlns:n="urn:n"/>t<n:b xmlns:n="urn:n"/>'),
        ("<s:Body>t<n:a/></s:Body>", 't<n:a xmlns:n="urn:n"/>'),
        ("<s:Body xmlns='urn:d'><a/></s:Body>", '<a xmlns="urn:d"/>'),
        ("<s:Body xmlns='urn:d'><a xmlns=''/></s:Body>", "<a xmlns=''/>"),
        ("<s:Body xmlns='u'><n:a><b/></n:a></s:Body>", '<n:a xmlns="u" xmlns:n="urn:n"><b/></n:a>'),
        ("<s:Body xmlns='urn:d'>text</s:Body>", "text"),
        ("<s:Body xmlns=''><a/></s:Body>", "<a/>"),
        ("<s:Body x=\"a>b\" xmlns:n='urn:?a&amp;b'><n:a/></s:Body>", '<n:a xmlns:n="urn:?a&amp;b"/>'),
        ("<s:Body><a><![CDATA[</s:Body>]]></a></s:Body>", '<a xmlns:s="urn:s"><![CDATA[</s:Body>]]></a>'),
        ("<s:Body><!-- <s:Body --><n:a/></s:Body>", '<!-- <s:Body --><n:a xmlns:s="urn:s" xmlns:n="urn:n"/>'),
        ("<s:Body><s:Body/></s:Body>", '<s:Body xmlns:s="urn:s"/>'),
        ("<s:Body><é n:ö='ü'/></s:Body>", "<é xmlns:n=\"urn:n\" n:ö='ü'/>"),
        ("<s:Body>x<Ĳ n:y=''/></s:Body>", "x<Ĳ xmlns:n=\"urn:n\" n:y=''/>"),
        ("<s:Body>x<?pi <n:a '?><n:a/></s:Body>", "x<?pi <n:a '?><n:a xmlns:n=\"urn:n\"/>"),
        ("<s:Body>a&#13;b\r\n</s:Body>", "a&#13;b\r\n"),
    ],
)  # fmt: skip
def test_what_stands_in_a_body_is_cut_out(body: str, content: str) -> None:
    assert cut(f"<s:Envelope {OUTER}><s:Header/>{body}</s:Envelope>") == content


def test_tags_in_comments_around_a_body_are_no_tags() -> None:
    data = f"<s:E {OUTER}><!-- <s:Body> --><s:Body>x<n:a/></s:Body><!-- </s:Body> --></s:E>"
    assert cut(data) == 'x<n:a xmlns:n="urn:n"/>'
    assert cut(f"<s:E {OUTER}><s:Body>x</s:Body><!-- </s:Body> --></s:E>") == "x"


def test_a_tag_in_a_comment_with_another_behind_it_is_no_tag() -> None:
    assert cut(f"<s:E {OUTER}><!-- <s:Body><x --><s:Body><n:a/></s:Body></s:E>") == '<n:a xmlns:n="urn:n"/>'


def test_a_body_without_a_prefix_is_cut_out() -> None:
    assert cut('<E xmlns="urn:s"><Body><a xmlns="urn:a"/></Body></E>') == '<a xmlns="urn:a"/>'
    assert cut('<E xmlns="urn:s"><Body><Body/></Body></E>') == '<Body xmlns="urn:s"/>'


def test_a_prefix_of_any_length_is_declared() -> None:
    prefix = "p" * 300
    data = f'<s:E xmlns:s="urn:s" xmlns:{prefix}="urn:p"><s:Body><{prefix}:a/></s:Body></s:E>'
    assert cut(data) == f'<{prefix}:a xmlns:{prefix}="urn:p"/>'
    assert cut(data.replace(f"<{prefix}:a/>", f"<a>x{prefix}:</a>")) == (
        f'<a xmlns:{prefix}="urn:p">x{prefix}:</a>'  # no pattern is made of it, so a name may end with it
    )


_DECLARATIONS = ["", ' xmlns:n="urn:n"', ' xmlns:n="urn:m"', ' xmlns="urn:d"', ' xmlns=""', ' a="n:x"']
_PIECES = ["t", "n:x", "<n:a/>", "<a/>", "<!-- n:c -->", "<n:a xmlns:n='urn:o'><n:b/></n:a>", "<a n:b='1'/>"]


@given(
    st.sampled_from(_DECLARATIONS),
    st.sampled_from(_DECLARATIONS),
    st.lists(st.sampled_from(_PIECES), max_size=4),
)
def test_content_means_elsewhere_what_it_meant(outer: str, inner: str, pieces: list[str]) -> None:
    wrapped = "".join(pieces)
    body = f"<s:Body{outer}><x{inner}>{wrapped}</x>{wrapped}</s:Body>"
    cut(f'<s:E xmlns:s="urn:s" xmlns:n="urn:n1">{body}</s:E>')


def test_the_content_of_any_element_is_cut_out() -> None:
    data = f"<s:E {OUTER}><p>1</p><p><n:q/> <p>2</p></p><p/></s:E>"
    root = root_of(data.encode())
    found = [content_of(data.encode(), root, child).decode() for child in root]
    assert found == ["1", '<n:q xmlns:n="urn:n"/> <p xmlns:n="urn:n">2</p>', ""]


def test_each_element_gets_the_attribute() -> None:
    content = b"<a/> <b:c x='>'><d/></b:c><!-- <e> --><f></f>"
    changed = with_attribute(content, ' z="1"')
    assert changed == b'<a z="1"/> <b:c z="1" x=\'>\'><d/></b:c><!-- <e> --><f z="1"></f>'
    assert re.sub(rb' z="1"', b"", changed) == content
