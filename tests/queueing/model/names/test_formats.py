"""Format names: how they are parsed, printed and refused."""

from __future__ import annotations

import pytest

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr import schemes as _  # noqa: F401 - it registers its names
from reliquary.queueing.model.names.formats import (
    DirectName,
    FormatType,
    MultipleName,
    key_of,
    name_of_url,
    parse_format,
    parse_single,
)
from reliquary.queueing.model.names.schemes import is_bare_url

GUID = "0F0E0D0C-0B0A-0908-0706-050403020100"

KINDS = [
    (f"PUBLIC={GUID}", FormatType.PUBLIC),
    (f"PUBLIC={GUID};JOURNAL", FormatType.PUBLIC),
    (f"PRIVATE={GUID}\\1F", FormatType.PRIVATE),
    (f"PRIVATE={GUID}\\1F;JOURNAL", FormatType.PRIVATE),
    ("DIRECT=OS:host\\private$\\orders", FormatType.DIRECT),
    ("DIRECT=OS:host\\orders;JOURNAL", FormatType.DIRECT),
    ("DIRECT=OS:host\\orders;retry", FormatType.SUBQUEUE),
    ("DIRECT=TCP:10.0.0.1\\private$\\orders", FormatType.DIRECT),
    ("DIRECT=HTTP://host/msmq/private$/orders", FormatType.DIRECT),
    ("DIRECT=HTTPS://host:8443/msmq/orders", FormatType.DIRECT),
    ("DIRECT=HTTPR://host/httpr/mq#orders", FormatType.DIRECT),
    ("DIRECT=HTTPRS://host:8443/svc#orders;retry", FormatType.SUBQUEUE),
    ("DIRECT=HTTPR://host/svc", FormatType.DIRECT),
    ("DIRECT=OS:host\\SYSTEM$;DEADXACT", FormatType.DIRECT),
    (f"MACHINE={GUID};DEADLETTER", FormatType.MACHINE),
    (f"CONNECTOR={GUID}", FormatType.CONNECTOR),
    (f"CONNECTOR={GUID};XACTONLY", FormatType.CONNECTOR),
    (f"DL={GUID}", FormatType.DISTRIBUTION_LIST),
    (f"DL={GUID}@example.org", FormatType.DISTRIBUTION_LIST),
    ("MULTICAST=224.1.1.1:8001", FormatType.MULTICAST),
]


@pytest.mark.parametrize(("text", "kind"), KINDS)
def test_each_kind_is_read_and_printed_as_it_was(text: str, kind: FormatType) -> None:
    name = parse_single(text)
    assert str(name) == text
    assert name.kind is kind
    if not text.startswith("DIRECT=HTTPR"):
        assert key_of(parse_format(text.lower())) == key_of(name)


@pytest.mark.parametrize(
    ("url", "host", "port", "authority", "queue_path"),
    [
        ("HTTP://Host/msmq/private$/q", "Host", "", "host", "private$\\q"),
        ("HTTP://host:80/MSMQ/q;sub?x=1", "host", "", "host", "q;sub"),
        ("HTTPS://host:443/msmq/q", "host", "", "host", "q"),
        ("HTTPS://host:80/msmq/q", "host", "80", "host:80", "q"),
        ("HTTP://[2001:DB8::1]:8480/msmq/a%20b", "2001:DB8::1", "8480", "[2001:db8::1]:8480", "a b"),
        ("HTTP://host\\msmq\\private$\\q?a\\b", "host", "", "host", "private$\\q"),
        ("HTTP://host/msmq/100%", "host", "", "host", "100%"),
        ("HTTP://host/elsewhere;x", "host", "", "host", ""),
        ("HTTPR://Host:80/httpr/mq#private$/q", "Host", "", "host", "private$\\q"),
        ("HTTPR://host:8480/mq?x#a%20b", "host", "8480", "host:8480", "a b"),
        ("HTTPRS://host:443/mq", "host", "", "host", ""),
        ("HTTPR://host/mq#SOAPQ@QM1#x\\%ff", "host", "", "host", "SOAPQ@QM1#x\\\ufffd"),
    ],
)
def test_a_url_says_which_manager_and_which_queue(
    url: str, host: str, port: str, authority: str, queue_path: str
) -> None:
    name = parse_single(f"DIRECT={url}")
    assert isinstance(name, DirectName)
    assert (name.host, name.port, name.authority, name.queue_path) == (host, port, authority, queue_path)


def test_a_url_is_printed_with_its_query_and_with_the_strokes_of_a_url() -> None:
    name = parse_single("DIRECT=HTTP://host\\msmq\\q;sub?a\\b;c")
    assert str(name) == "DIRECT=HTTP://host/msmq/q;sub?a\\b;c"
    assert name.kind is FormatType.SUBQUEUE


def test_what_an_agent_is_called_is_its_own_matter_so_its_names_compare_as_they_are_written() -> None:
    one = key_of(parse_single("DIRECT=httpr://host/Svc#Orders"))
    assert one == key_of(parse_single("DIRECT=HTTPR://host/Svc#Orders"))
    assert one != key_of(parse_single("DIRECT=HTTPR://host/svc#Orders"))
    assert one != key_of(parse_single("DIRECT=HTTPR://host/Svc#orders"))
    several = parse_format("DIRECT=HTTPR://host/Svc#Q,DIRECT=OS:A\\q")
    assert key_of(several) == "DIRECT=HTTPR://host/Svc#Q,direct=os:a\\q"


def test_the_uri_of_an_agent_is_a_format_name_whose_commas_are_written_otherwise() -> None:
    assert is_bare_url("HTTPR://host/svc#q")
    assert is_bare_url("httprs://host/svc")
    assert not is_bare_url("http://host/svc#q")
    assert str(parse_format(name_of_url("httpr://host/svc#a,b"))) == "DIRECT=HTTPR://host/svc#a%2Cb"


def test_several_names_form_one_multiple_name() -> None:
    name = parse_format(f"DIRECT=OS:a\\q, DL={GUID}")
    assert isinstance(name, MultipleName)
    assert str(name) == f"DIRECT=OS:a\\q,DL={GUID}"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "ORDERS=1",
        "PUBLIC=1",
        f"PRIVATE={GUID}\\123456789",
        "DIRECT=FTP:a\\q",
        "DIRECT=OS:a",
        "DIRECT=TCP:a\\q",
        f"MACHINE={GUID}",
        f"CONNECTOR={GUID};JOURNAL",
        "MULTICAST=10.0.0.1:1",
        "MULTICAST=224.0.0.1:70000",
        "MULTICAST=224.0.0.1:0",
        "MULTICAST=224.0.0.1",
        "DIRECT=OS:a\\q,",
        f"DIRECT=OS:a\\q,MACHINE={GUID};JOURNAL",
        "DIRECT=OS:a\\b\\c",
        "DIRECT=HTTP:host/q",
        "DIRECT=HTTP://host",
        "DIRECT=HTTP:///msmq/q",
        "DIRECT=HTTP://host:/msmq/q",
        "DIRECT=HTTP://host:0/msmq/q",
        "DIRECT=HTTP://host:65536/msmq/q",
        "DIRECT=HTTP://host:http/msmq/q",
        "DIRECT=HTTP://user@host/msmq/q",
        "DIRECT=HTTP://[::1/msmq/q",
        "DIRECT=HTTP://host/msmq/a b",
        "DIRECT=HTTP://host/msmq/%ff",
        "DIRECT=HTTP://host/msmq/a%00b",
        "DIRECT=HTTP://host/msmq/a/b",
        "DIRECT=HTTP://host/msmq/a%5Cb",
        "DIRECT=HTTP://host/msmq/system$;other",
        "DIRECT=HTTPR://host",
        "DIRECT=HTTPR://host#q",
        "DIRECT=HTTPR:/svc#q",
        "DIRECT=HTTPR:///svc#q",
        "DIRECT=HTTPR://host:0/svc#q",
        "DIRECT=HTTPR://user@host/svc#q",
        "DIRECT=HTTPR://host/svc#a b",
        "DIRECT=HTTPR://host/svc#a,b",
    ],
)
def test_what_is_no_format_name_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_format(text)
