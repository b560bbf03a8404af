"""Tests that envelopes are plain and small, or refused, and that hostile ones cost little."""

from __future__ import annotations

import pytest

from reliquary.wire.soap import ATTRIBUTE_LIMIT, ENVELOPE_LIMIT, NAMESPACE, SoapFault, block_text, header_of


def envelope(header: str = "", body: str = "<s:Body/>", *, namespace: str = NAMESPACE) -> str:
    return f'<s:Envelope xmlns:s="{namespace}"><s:Header>{header}</s:Header>{body}</s:Envelope>'


def refused(text: str | bytes) -> SoapFault:
    data = text.encode() if isinstance(text, str) else text
    with pytest.raises(SoapFault) as caught:
        header_of(data)
    assert caught.value.status == 400
    return caught.value


@pytest.mark.spec("SR-017", "SR-018", "SR-019")
def test_the_header_has_its_blocks() -> None:
    assert [block.tag for block in header_of(envelope("<a/><b xmlns='urn:b'/>").encode())] == [
        "a",
        "{urn:b}b",
    ]


@pytest.mark.srmp("F-10")
@pytest.mark.spec("SR-020")
def test_what_the_body_holds_is_not_looked_at() -> None:
    assert header_of(envelope(body="<s:Body><x>1</x></s:Body><more xmlns='urn:x'/>").encode()) is not None


@pytest.mark.parametrize(
    "prolog", ['<?xml version="1.0"?>', '<?xml version="1.0" encoding="UTF-8"?>\r\n', "\n", "\ufeff"]
)
@pytest.mark.parametrize("more", ["", "<!-- a > b -->", "<?pi ?>"])
def test_a_prolog_is_passed_over(prolog: str, more: str) -> None:
    text = prolog + more + envelope("<a>1<!-- x -->2</a>")
    if prolog == "\n" and not more:
        text = text.lstrip()
    assert header_of(text.encode())[0].text == "12"


BOMB = "".join(f'<!ENTITY e{n} "&e{n - 1};&e{n - 1};&e{n - 1};&e{n - 1};">' for n in range(1, 20))


@pytest.mark.srmp("T-76", "F-07")
@pytest.mark.spec("SR-182")
@pytest.mark.parametrize(
    "prolog",
    [
        pytest.param(f'<!DOCTYPE s:Envelope [<!ENTITY e0 "x">{BOMB}]>', id="entities that multiply"),
        pytest.param('<!DOCTYPE s:Envelope [<!ENTITY e19 SYSTEM "file:///etc/passwd">]>', id="a file"),
        pytest.param('<!DOCTYPE s:Envelope SYSTEM "http://127.0.0.1:9/e19.dtd">', id="a document elsewhere"),
        pytest.param(
            '<!DOCTYPE s:Envelope [<!ENTITY % p SYSTEM "http://127.0.0.1:9/x">%p;]>', id="a parameter"
        ),
        pytest.param("<!DOCTYPE s:Envelope>", id="nothing"),
        pytest.param("<?xml version='1.0'?> <!-- < --><?p <!-- ?><!DOCTYPE s:Envelope>", id="behind others"),
    ],
)
def test_a_document_type_is_refused_before_it_is_read(prolog: str) -> None:
    assert "document type" in refused(prolog + envelope("<a>&e19;</a>")).why


def test_entities_that_were_not_declared_are_refused() -> None:
    assert refused(envelope("<a>&e;</a>")).element == "Envelope"
    assert header_of(envelope("<a>&lt;&#65;&amp;</a>").encode())[0].text == "<A&"


@pytest.mark.parametrize("encoding", ["utf-16", "iso-8859-1", "utf-7"])
def test_another_encoding_is_refused(encoding: str) -> None:
    assert "UTF-8" in refused(f'<?xml version="1.0" encoding="{encoding}"?>{envelope()}').why


@pytest.mark.srmp("F-07")
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b" ",
        b"\xff\xfe",
        b"<",
        b"<a>",
        b"hello",
        b"\0",
        envelope("<a>").encode(),
        envelope("<a b=1/>").encode(),
        envelope("<a b='1' b='2'/>").encode(),
        envelope("<u:a/>").encode(),
        envelope("\x01").encode(),
        envelope("&#0;").encode(),
        envelope("\x80").encode("latin-1"),
        envelope().encode("utf-16"),
        envelope().encode() * 2,
        envelope("<a><![CDATA[x]]</a>").encode(),
    ],
)
def test_what_is_no_xml_is_refused(data: bytes) -> None:
    assert refused(data).element == "Envelope"


@pytest.mark.srmp("F-08", "F-09")
@pytest.mark.parametrize(
    ("text", "element"),
    [
        pytest.param("<Envelope/>", "Envelope", id="no namespace"),
        pytest.param(
            envelope(namespace="http://www.w3.org/2003/05/soap-envelope"), "Envelope", id="SOAP 1.2"
        ),
        pytest.param(f'<s:Body xmlns:s="{NAMESPACE}"/>', "Envelope", id="another root"),
        pytest.param(f'<s:Envelope xmlns:s="{NAMESPACE}"/>', "Header", id="empty"),
        pytest.param(f'<s:Envelope xmlns:s="{NAMESPACE}"><s:Body/></s:Envelope>', "Header", id="no Header"),
        pytest.param(
            f'<s:Envelope xmlns:s="{NAMESPACE}"><x/><s:Header/><s:Body/></s:Envelope>',
            "Header",
            id="Header later",
        ),
        pytest.param(envelope(body=""), "Body", id="no Body"),
        pytest.param(envelope(body="<x/><s:Body/>"), "Body", id="Body later"),
        pytest.param(envelope(body="<Body/>"), "Body", id="another Body"),
        pytest.param(
            f'<s:Envelope xmlns:s="{NAMESPACE}"><s:Body/><s:Header/></s:Envelope>',
            "Header",
            id="turned round",
        ),
    ],
)
def test_an_envelope_of_another_shape_is_refused(text: str, element: str) -> None:
    assert refused(text).element == element


def test_deep_nesting_is_refused() -> None:
    assert header_of(envelope("<a>" * 200 + "</a>" * 200).encode()) is not None
    assert refused(envelope("<a>" * 300 + "</a>" * 300)).element == "Envelope"
    assert refused(envelope("<a>" * 100_000)).element == "Envelope"


def test_a_huge_attribute_is_refused() -> None:
    assert header_of(envelope(f"<a b='{'x' * ATTRIBUTE_LIMIT}'/>").encode()) is not None
    too_long = refused(envelope(f"<a><c b='{'x' * (ATTRIBUTE_LIMIT + 1)}'/></a>"))
    assert too_long.why == "an attribute has at most 16384 characters, this one 16385"


def test_a_huge_envelope_is_refused() -> None:
    room = ENVELOPE_LIMIT - len(envelope("<a></a>"))
    assert header_of(envelope(f"<a>{'x' * room}</a>").encode()) is not None
    assert str(ENVELOPE_LIMIT) in refused(envelope(f"<a>{'x' * (room + 1)}</a>")).why


SIGNED = "<d:Sig xmlns:d=\"urn:d\" a='>'>é<d:Sig/></d:Sig >"


@pytest.mark.parametrize(
    "before",
    [
        "",
        "<!-- <Sig xmlns='urn:d'/> -->",
        "<a><![CDATA[<Sig xmlns='urn:d'/>]]></a>",
        "<a><Sig xmlns='urn:d'/></a>",
    ],
)
def test_a_block_is_found_as_it_stands_there(before: str) -> None:
    assert block_text(envelope(f"{before}{SIGNED}<b/>").encode(), "urn:d", "Sig") == SIGNED


def test_a_name_that_only_one_of_two_parsers_knows_is_refused() -> None:
    data = envelope("<\u2070x/><b/>").encode()
    header_of(data)
    with pytest.raises(SoapFault, match="not well-formed") as fault:
        block_text(data, "urn:d", "Sig")
    assert fault.value.element == "Envelope"
