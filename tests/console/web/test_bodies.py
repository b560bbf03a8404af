"""Tests bodies of messages as people read them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.console.web.bodies import MOST, forms_of, hex_dump


def names(body: bytes, body_type: int = 0) -> list[str]:
    return [form.name for form in forms_of(body, body_type)]


@pytest.mark.parametrize(
    ("body", "body_type", "expected"),
    [
        pytest.param(b"two lamps", 0, ["text", "hex"], id="text"),
        pytest.param(b'{"a": [1]}', 0, ["json", "text", "hex"], id="JSON"),
        pytest.param(b"<a><b/></a>", 0, ["xml", "text", "hex"], id="XML"),
        pytest.param(b"<a><b></a>", 0, ["text", "hex"], id="XML that is not well formed"),
        pytest.param(b'<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>', 0, ["text", "hex"], id="XML with entities"),
        pytest.param(b"{not json", 0, ["text", "hex"], id="a brace alone"),
        pytest.param(
            rb'{"a": "\ud800"}', 0, ["text", "hex"], id="half of a surrogate pair, which no page holds"
        ),
        pytest.param(b"[" * 5000, 0, ["text", "hex"], id="JSON that is nested too deeply"),
        pytest.param(b"[" * 900 + b"1," * 9000 + b"1" + b"]" * 900, 0, ["text", "hex"], id="JSON of 16 MB"),
        pytest.param(
            b"<a>" * 200 + b"<b/>" * 9000 + b"</a>" * 200,
            0,
            ["text", "hex"],
            id="XML that is indented to 4 MB",
        ),
        pytest.param(b"\x00\x01\xff", 0, ["hex"], id="bytes"),
        pytest.param("zwölf".encode("utf-16-le"), 8, ["text", "hex"], id="VT_BSTR"),
        pytest.param("zwölf".encode("utf-16"), 0, ["text", "hex"], id="UTF-16 with a mark"),
        pytest.param("<a>é</a>".encode("utf-16-le"), 31, ["xml", "text", "hex"], id="XML as VT_LPWSTR"),
        pytest.param(b"", 0, ["text", "hex"], id="nothing"),
    ],
)
def test_a_body_has_the_forms_that_its_bytes_have(body: bytes, body_type: int, expected: list[str]) -> None:
    assert names(body, body_type) == expected


def test_xml_and_json_are_indented() -> None:
    assert forms_of(b"<a><b>1</b></a>")[0].text == "<a>\n  <b>1</b>\n</a>"
    assert forms_of(b'{"a":1}')[0].text == '{\n  "a": 1\n}'


def test_indented_json_has_every_value_as_it_was_sent() -> None:
    """A name that is repeated, and numbers that a float cannot hold."""
    form = forms_of(rb'{"a":1,"a":1.10,"b":1e400,"c":"\u00e9"}')[0]
    assert form.text == '{\n  "a": 1,\n  "a": 1.10,\n  "b": 1e400,\n  "c": "\\u00e9"\n}'


def test_a_large_body_is_cut_between_two_letters() -> None:
    body = b"a" + "é".encode() * MOST
    form = forms_of(body)[0]
    assert form.name == "text"
    assert len(form.text.encode()) <= MOST
    assert body.decode().startswith(form.text)


@given(st.binary(max_size=200), st.sampled_from([0, 8, 31, 30]))
def test_every_body_can_be_shown(body: bytes, body_type: int) -> None:
    forms = forms_of(body, body_type)
    assert forms[-1].name == "hex"
    digits = "".join(line[10:59].replace(" ", "") for line in hex_dump(body).splitlines())
    assert bytes.fromhex(digits) == body
