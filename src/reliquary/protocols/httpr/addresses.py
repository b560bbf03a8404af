"""Reads and writes names of agents, contact URLs and Destinations, 3.2 and 6.1.2 to 6.2.3.

    httpr://shop.example/httpr/mq#orders            the form that we write
    http://shop.example/httpr/mq#orders             this queue as 6.2.3 prints it: the scheme has no meaning
    httpr:/mq   httpr://mq   http:QM1#/Query@QM1    agents without a host; a peer's `url` says where they are
    httprs://shop.example/httpr/mq#orders           our extension: the agent is reached over TLS

The names of agents are compared as they are written (H-23); only the scheme is normalized, because the
specification itself prints two.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Final
from urllib.parse import quote, unquote

import msgspec

from reliquary.base.faults import UsageError
from reliquary.protocols.httpr.schemes import AGENT_PATH, names_agent
from reliquary.queueing.model.names.formats import (
    COMMA,
    DirectName,
    is_format_name,
    name_of_url,
    parse_single,
)
from reliquary.queueing.model.names.schemes import is_bare_url

PREFIX: Final = AGENT_PATH
"""The path of our server agents."""

_SCHEMES: Final = {"http": "httpr", "https": "httprs", "httpr": "httpr", "httprs": "httprs"}
_CONTACTED_BY: Final = {"httpr": "http", "httprs": "https"}
_DEFAULT_PORTS: Final = {"httpr": ":80", "httprs": ":443"}
_URI: Final = re.compile(
    r"(https?|httprs?):"
    r"(?:(?://){1,2}([^/#?]+)(?=/)"  # two slashes; four where 6.2.3 is read literally (H-23)
    r"|(?://)?(?=[^/]|/[^/]))"
    r"([^#]+)(?:#(.*))?",
    re.IGNORECASE,
)
_HOST: Final = re.compile(r"(?:\[[0-9A-Fa-f:.%]+\]|[^:@\[\]\s]+)(?::[0-9]{1,5})?")
_NOT_IN_NAMES: Final = re.compile(r"[^\x21-\x7e]")


class Target(msgspec.Struct, frozen=True):
    """The parts of a TargetUri."""

    agent: str
    """`httpr://host[:port]/service`, as it was written."""
    authority: str
    """`host` or `host:port` in lower case; empty if there is none."""
    path: str
    """The path of the service, as `/httpr/service`."""
    destination: str
    """The part after `#`, which only its agent understands."""

    @property
    def service(self) -> str:
        """The name of the service, if the agent belongs to this manager."""
        return _unquoted(self.path.removeprefix(PREFIX).strip("/"))

    @property
    def queue(self) -> str:
        """The Destination as the path name of a queue, if the agent belongs to this manager."""
        return _unquoted(self.destination)


@lru_cache(maxsize=1024)
def _unquoted(text: str) -> str:
    """Return the text of a part of a URI without its escapes.

    The cache serves peers that repeat few names.
    """
    return unquote(text, errors="replace")


@lru_cache(maxsize=1024)
def read_target(uri: str) -> Target | None:
    """Return the parts of a TargetUri or of the name of an agent; None if it is neither."""
    found = _URI.fullmatch(uri.strip(" \t"))
    if found is None:
        return None
    scheme, host = _SCHEMES[found[1].lower()], found[2] or ""
    if host and not _HOST.fullmatch(host):
        return None
    without_host = found.string[len(found[1]) :].partition("#")[0]
    agent = scheme + (f"://{host}{found[3]}" if host else without_host)
    authority = host.lower().removesuffix(_DEFAULT_PORTS[scheme])
    return Target(agent, authority, found[3], found[4] or "")


@lru_cache(maxsize=1024)
def agent_of(name: str) -> str:
    """Return the agent of a format name or a URI; any other text is returned as the name of an agent."""
    uri = target_uri(name) or name
    target = read_target(uri)
    return uri.partition("#")[0] if target is None else target.agent


def contact_url(responder: str, url: str = "") -> str:
    """Return the URL of an agent: `url`, or the URL that its name contains.

    Empty if there is none (6.1.4).
    """
    target = None if url else read_target(responder)
    if target is None or not target.authority:
        return url
    scheme, _, rest = target.agent.partition(":")
    return f"{_CONTACTED_BY[scheme]}:{rest}"


@lru_cache(maxsize=1024)
def format_name(uri: str) -> str:
    """Return the name of the outgoing queue to a target: `DIRECT=HTTPR://...`; empty if there is none."""
    target = read_target(uri)
    if target is None:
        return ""
    scheme, _, rest = target.agent.partition(":")
    whole = f"{scheme.upper()}:{rest}" + (f"#{target.destination}" if target.destination else "")
    try:
        return str(parse_single(name_of_url(_NOT_IN_NAMES.sub(_escaped, whole))))
    except UsageError:
        return ""


def _escaped(found: re.Match[str]) -> str:
    return quote(found[0])


@lru_cache(maxsize=1024)
def target_uri(name: str) -> str:
    """Return the URI of a format name; empty if HTTPR does not reach the queue."""
    if is_bare_url(name):
        name = name_of_url(name)
    if not is_format_name(name):
        return ""
    try:
        direct = parse_single(name)
    except UsageError:
        return ""
    if not isinstance(direct, DirectName) or not names_agent(direct):
        return ""
    return f"{direct.scheme.word.lower()}://{direct.address}{direct.path.replace(COMMA, ',')}"


def own_agent(origin: str, service: str) -> str:
    """Return the name of an agent of this manager, which must never change (6.1.2, 6.1.4)."""
    return origin + PREFIX + quote(service.replace("\\", "/"), safe="/$;@!*'()~,:+=&")
