"""Finds the servers of a query, their names, and the user of the query.

    url        http://a:8480,http://b:8480            names are the addresses: a:8480 and b:8480
    url        north=http://a:8480,south=http://b:8480
    managers   FILE or FILE#TABLE                      a TOML file of the driver

    [managers]
    north = "http://a:8480"
    south = {url = "https://b:8480", token_file = "south.token", ca = "south.pem"}
    west = {url = "https://c:8480", user = "lake", password_file = "west.password"}

The name of a manager is in offsets, in the column `manager` and in every error.  It decides, with a key,
which rows a sink sends to the manager.  So a name should not change; the address behind it may.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Mapping
from enum import Enum
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, NamedTuple
from urllib.parse import urlsplit

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.toml import read_toml
from reliquary.client.authorization import authorization_of
from reliquary.client.errors import BadRequest
from reliquary.spark.errors import BadOption

TABLE: Final = "managers"
"""The table of a file that is read if the option names no other."""
MOST: Final = 1000
"""The largest number of managers of one query."""
AUTO: Final = "auto"
COMPRESSIONS: Final = ("lz4", "zstd")
"""The methods by which a server compresses its answers; the first one is used over a network."""
_NAMED = re.compile(r"([A-Za-z0-9._-]{1,100})=(.*)", re.DOTALL)
_FIELDS: Final = {"url", "token", "token_file", "user", "password_file", "ca"}


class Gone(Enum):
    """The choices for a manager that does not answer."""

    FAIL = "fail"
    """The query ends with an error."""
    WAIT = "wait"
    """The query waits until the manager answers."""
    SKIP = "skip"
    """The query continues without the manager, and reads its messages later."""


class Access(msgspec.Struct, frozen=True):
    """One server, with the credentials for it."""

    url: str
    token: str = ""
    ca: str = ""
    timeout: float = 60.0
    name: str = ""
    """The name of the manager."""
    patience: float | None = None
    """Seconds to wait for a server that restarts; None is `timeout`."""
    compression: str = ""
    """The way in which the server compresses what is read; empty for none."""
    user: str = ""
    """The user that a password authenticates; empty where a token does so, or nothing."""
    password: str = ""

    def __repr__(self) -> str:
        proof = f"user={self.user!r}" if self.user else f"token={'***' if self.token else ''!r}"
        return f"Access(name={self.name!r}, url={self.url!r}, {proof})"


class Proof(NamedTuple):
    """What identifies the client to a server: a token, or a user and a password, or nothing."""

    token: str = ""
    user: str = ""
    password: str = ""

    def of(self, access: Access) -> Access:
        """Return the access to a server with this proof."""
        return msgspec.structs.replace(access, **self._asdict())


def parse_managers(given: Mapping[str, str]) -> tuple[Access, ...]:
    """Return the managers of the options, in their order; at least one."""
    if "url" in given and "managers" in given:
        raise BadOption("give url or managers, not both")
    timeout = _timeout(given.get("timeout", "60"))
    proof, ca = _proof(given), _authority(given.get("ca", "").strip(), "the option ca")
    if "managers" in given:
        found = _from_file(given["managers"].strip(), proof, ca, timeout)
    else:
        found = tuple(
            proof.of(Access(address, "", ca, timeout, name))
            for name, address in _addresses(given.get("url", ""))
        )
    _check_distinct(found)
    wanted = _compression(given)
    return tuple(msgspec.structs.replace(each, compression=wanted(each.url)) for each in found)


def _addresses(text: str) -> list[tuple[str, str]]:
    """Return the names and addresses of the option url."""
    words = [word for part in text.split(",") if (word := part.strip())]
    if not words:
        raise BadOption("the option url is missing: the server, such as http://127.0.0.1:8480")
    found: list[tuple[str, str]] = []
    for word in words:
        named = _NAMED.fullmatch(word)
        address = named[2].strip() if named else word
        place = _check_address(address, "the option url")
        found.append((named[1] if named else place, address))
    return found


def _check_address(address: str, what: str) -> str:
    """Return the host and port of an address; refuse an invalid one."""
    try:
        parts = urlsplit(address)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0:
            raise ValueError
    except ValueError:
        raise BadOption(f"{what} is like http://host:port, not {address!r}") from None
    return parts.netloc.rpartition("@")[2].lower() + parts.path.rstrip("/")


def _check_distinct(managers: tuple[Access, ...]) -> None:
    if not 1 <= len(managers) <= MOST:
        raise BadOption(f"a query has 1 to {MOST} managers, not {len(managers)}")
    for what, values in (
        ("name", [each.name for each in managers]),
        ("address", [each.url.rstrip("/").lower() for each in managers]),
    ):
        twice = sorted({value for value in values if values.count(value) > 1})
        if twice:
            raise BadOption(f"two managers have the {what} {twice[0]}: each is named once")


# -- a file of managers


def _from_file(option: str, proof: Proof, ca: str, timeout: float) -> tuple[Access, ...]:
    """Return the managers of a table in a TOML file; what an entry does not say is as in the options."""
    name, _, table = option.partition("#")
    file, table = Path(name), table or TABLE
    try:
        tables = read_toml(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, UsageError) as why:
        raise BadOption(f"the option managers names a file that cannot be read: {name}: {why}") from why
    entries: Any = tables
    for word in table.split("."):
        entries = entries.get(word) if isinstance(entries, dict) else None
    if not isinstance(entries, dict) or not entries:
        raise BadOption(f"the option managers names {name}, which has no managers in a table [{table}]")
    return tuple(
        _entry(file, manager, entry, proof, ca, timeout) for manager, entry in sorted(entries.items())
    )


def _entry(file: Path, manager: str, entry: object, proof: Proof, ca: str, timeout: float) -> Access:
    what = f"{file}: the manager {manager}"
    fields = {"url": entry} if isinstance(entry, str) else entry
    if not isinstance(fields, dict) or not all(isinstance(each, str) for each in fields.values()):
        raise BadOption(f'{what} is an address, or a table such as {{url = "http://host:port"}}')
    unknown = sorted(set(fields) - _FIELDS)
    if unknown:
        raise BadOption(f"{what} has {unknown[0]!r}; it may have {', '.join(sorted(_FIELDS))}")
    if not _NAMED.fullmatch(f"{manager}="):
        raise BadOption(f"{what}: a name has up to 100 letters, digits, . _ or -")
    _check_address(fields.get("url", ""), f"{what}: its url")
    own = {
        "token": fields.get("token"),
        "tokenFile": str(file.parent / fields["token_file"]) if "token_file" in fields else None,
        "user": fields.get("user"),
        "passwordFile": str(file.parent / fields["password_file"]) if "password_file" in fields else None,
    }
    said = {word: value for word, value in own.items() if value is not None}
    authority = _authority(str(file.parent / fields["ca"]), f"{what}: ca") if "ca" in fields else ca
    own_proof = _proof(said) if said else proof
    return own_proof.of(Access(fields["url"], "", authority, timeout, manager))


# -- who asks


def _timeout(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds <= 86_400:
        raise BadOption(f"the option timeout is a number of seconds up to 86400, not {text!r}")
    return seconds


def _compression(given: Mapping[str, str]) -> Callable[[str], str]:
    """Return the function that chooses the compression of a server by its address.

    On one machine the bytes cost less than their compression; over a network they cost more.
    """
    word = given.get("compression", AUTO).strip().lower()
    if word not in {AUTO, "none", *COMPRESSIONS}:
        raise BadOption(f"the option compression is auto, none, {' or '.join(COMPRESSIONS)}, not {word!r}")
    if word == AUTO:
        return lambda url: "" if _is_loopback(urlsplit(url).hostname or "") else COMPRESSIONS[0]
    return lambda url: "" if word == "none" else word


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")


def _authority(file: str, what: str) -> str:
    if file and not Path(file).is_file():
        raise BadOption(f"{what} names a file that is not here: {file!r}")
    return file


def _proof(given: Mapping[str, str]) -> Proof:
    if len([way for way in ("token", "tokenFile", "user") if way in given]) > 1:
        raise BadOption("give token, tokenFile or user, only one of them")
    if "user" in given:
        proof = Proof("", given["user"].strip(), _password(given))
        try:
            authorization_of(user=proof.user, password=proof.password)
        except BadRequest as why:
            raise BadOption(str(why)) from why
        return proof
    if "password" in given or "passwordFile" in given:
        raise BadOption("a password needs the option user")
    return Proof(_token(given))


def _token(given: Mapping[str, str]) -> str:
    if "tokenFile" in given:
        token = _content("tokenFile", given["tokenFile"]).strip()
    else:
        token = given.get("token", os.environ.get("RELIQUARY_TOKEN", "")).strip()
    if token and not (token.isascii() and token.isprintable()):
        raise BadOption("a token is printable ASCII; this one is not")
    return token


def _password(given: Mapping[str, str]) -> str:
    if "password" in given and "passwordFile" in given:
        raise BadOption("give password or passwordFile, not both")
    if "passwordFile" in given:
        return _content("passwordFile", given["passwordFile"]).rstrip("\r\n")
    password = given.get("password", os.environ.get("RELIQUARY_PASSWORD", ""))
    if not password:
        raise BadOption(
            "the option user needs a password: passwordFile, password, or RELIQUARY_PASSWORD of the driver"
        )
    return password


def _content(option: str, file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as why:
        raise BadOption(f"the option {option} names a file that cannot be read: {why}") from why
