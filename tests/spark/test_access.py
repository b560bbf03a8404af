"""Tests which managers a query has: addresses, names, files, and who asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from reliquary.spark.access import Access, parse_managers
from reliquary.spark.errors import BadOption

URL = "http://127.0.0.1:8480"


def test_a_manager_without_a_name_is_called_by_its_address() -> None:
    (one,) = parse_managers({"url": URL})
    assert (one.name, one.url) == ("127.0.0.1:8480", URL)


def test_several_managers_with_and_without_names() -> None:
    found = parse_managers({"url": "http://a:1, north=https://b , http://C:2/x/"})
    assert [(each.name, each.url) for each in found] == [
        ("a:1", "http://a:1"),
        ("north", "https://b"),
        ("c:2/x", "http://C:2/x/"),
    ]


FILE = """
[managers]
south = {url = "https://b:2", token_file = "south.token", ca = "south.pem"}
north = "http://a:1"
[other.three]
west = {url = "http://c:3", token = "mine"}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "south.token").write_text("from-file\n")
    (tmp_path / "south.pem").write_text("")
    (tmp_path / "managers.toml").write_text(FILE)
    return tmp_path / "managers.toml"


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ({}, ("", "", "", "", "lz4", "lz4")),
        ({"compression": "none"}, ("",) * 6),
        ({"compression": " ZSTD "}, ("zstd",) * 6),
    ],
)
def test_rows_travel_compressed_over_a_network_alone(
    given: dict[str, str], expected: tuple[str, ...]
) -> None:
    hosts = "http://127.0.0.2:1,http://[::1]:1,http://localhost:1,http://a.localhost:1,http://10.0.0.1:1,http://b:1"
    assert tuple(each.compression for each in parse_managers({"url": hosts} | given)) == expected


def test_managers_come_from_a_file(file: Path) -> None:
    north, south = parse_managers({"managers": str(file), "token": "given", "timeout": "5"})
    assert north == Access("http://a:1", "given", "", 5.0, "north", compression="lz4")
    assert south == Access(
        "https://b:2", "from-file", str(file.parent / "south.pem"), 5.0, "south", compression="lz4"
    )
    assert parse_managers({"managers": f"{file}#other.three"}) == (
        Access("http://c:3", "mine", name="west", compression="lz4"),
    )


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x = 1", r"which has no managers in a table \[managers\]"),
        ("[managers]", "which has no managers"),
        ("[managers]\na = 5", "the manager a is an address, or a table such as"),
        (
            '[managers]\na = {url = "http://a", port = "5"}',
            "the manager a has 'port'; it may have ca, password_file",
        ),
        ('[managers]\na = {token = "x"}', "the manager a: its url is like http://host:port, not ''"),
        ('[managers]\n"a b" = "http://a"', "the manager a b: a name has up to 100 letters"),
        (
            '[managers]\na = {url = "http://a", ca = "no.pem"}',
            "the manager a: ca names a file that is not here",
        ),
        ("[managers", "cannot be read"),
    ],
)
def test_a_file_that_is_not_right_is_refused(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "m.toml").write_text(text)
    with pytest.raises(BadOption, match=sentence):
        parse_managers({"managers": str(tmp_path / "m.toml")})


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"url": " , "}, "the option url is missing"),
        ({"url": "http://host:port"}, "the option url is like"),
        ({"url": "ftp://host"}, "the option url is like"),
        ({"url": "http://a,north=b:5"}, "the option url is like http://host:port, not 'b:5'"),
        ({"url": "http://a,http://a/"}, "two managers have the name a"),
        ({"url": "x=http://a,y=http://a/"}, "two managers have the address http://a"),
        ({"url": URL, "managers": "x"}, "give url or managers, not both"),
        ({"managers": "missing/file"}, "the option managers names a file that cannot be read: missing/file"),
        (
            {"url": URL, "compression": "gzip"},
            "the option compression is auto, none, lz4 or zstd, not 'gzip'",
        ),
        ({"url": URL, "timeout": "nan"}, "the option timeout is"),
        (
            {"url": URL, "ca": "missing/file.pem"},
            "the option ca names a file that is not here: 'missing/file.pem'",
        ),
        ({"url": URL, "token": "a", "tokenFile": "b"}, "give token, tokenFile or user, only one of them"),
        ({"url": URL, "token": "a", "user": "b"}, "give token, tokenFile or user, only one of them"),
        ({"url": URL, "user": "b"}, "the option user needs a password: passwordFile, password, or RELIQ"),
        ({"url": URL, "password": "b"}, "a password needs the option user"),
        ({"url": URL, "passwordFile": "b"}, "a password needs the option user"),
        ({"url": URL, "user": "b", "password": "c", "passwordFile": "d"}, "give password or passwordFile"),
        (
            {"url": URL, "user": "b", "passwordFile": "missing/file"},
            "the option passwordFile names a file",
        ),
        ({"url": URL, "user": "a:b", "password": "c"}, "a user's name has no colon"),
        ({"url": URL, "token": "töken"}, "a token is printable ASCII"),
        ({"url": URL, "tokenFile": "missing/file"}, "the option tokenFile names a file that cannot be read"),
    ],
)
def test_what_is_not_right_is_refused(given: dict[str, str], sentence: str) -> None:
    with pytest.raises(BadOption) as refused:
        parse_managers(given)
    assert str(refused.value).startswith(sentence)


def test_a_token_comes_from_a_file_or_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("from-file\n")
    assert parse_managers({"url": URL, "tokenFile": str(tmp_path / "token")})[0].token == "from-file"
    monkeypatch.setenv("RELIQUARY_TOKEN", "from-environment")
    assert parse_managers({"url": URL})[0].token == "from-environment"
    assert parse_managers({"url": URL, "token": "given"})[0].token == "given"


def test_a_password_comes_from_a_file_or_from_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "password").write_text("from a file\n")
    monkeypatch.setenv("RELIQUARY_TOKEN", "not-used")
    user = {"url": URL, "user": "lake"}
    [found] = parse_managers({**user, "passwordFile": str(tmp_path / "password")})
    assert (found.token, found.user, found.password) == ("", "lake", "from a file")
    monkeypatch.setenv("RELIQUARY_PASSWORD", "from the environment")
    assert parse_managers(user)[0].password == "from the environment"
    assert parse_managers({**user, "password": "given"})[0].password == "given"


def test_a_manager_of_a_file_may_have_a_user_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "west.password").write_text("secret\n")
    file = tmp_path / "managers.toml"
    file.write_text(
        '[managers]\neast = "http://a:1"\n'
        'west = {url = "http://b:2", user = "lake", password_file = "west.password"}\n'
    )
    east, west = parse_managers({"managers": str(file), "token": "given"})
    assert (east.token, east.user) == ("given", "")
    assert (west.token, west.user, west.password) == ("", "lake", "secret")


def test_a_token_and_a_password_are_not_shown() -> None:
    assert "s3cret" not in repr(parse_managers({"url": URL, "user": "lake", "password": "s3cret"}))
    assert "s3cret" not in repr(parse_managers({"url": URL, "token": "s3cret"}))
