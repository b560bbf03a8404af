"""The names of an application's agent, and its names for the queues of its server.

server     http://host:8480        a Reliquary server: its queues are Destinations of its agent `mq`, and
                                   services that messages are fetched from
           httpr://host/service    another agent: its queues are its Destinations, and it selects the
                                   messages that it has for this agent
name       laptop/app              httpr://laptop/app; no peer can connect to it, so it sends all requests
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NoReturn
from urllib.parse import quote, urlsplit

from reliquary.client.errors import BadRequest
from reliquary.protocols.httpr.addresses import contact_url, format_name, own_agent, read_target
from reliquary.protocols.httpr.settings import HttprSettings

_NAME: Final = re.compile(r"[A-Za-z0-9._-]+(?:/[A-Za-z0-9._~-]+)+")
_SCHEMES: Final = {"http": "httpr", "https": "httprs"}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentNames:
    """All names of one agent and its server."""

    requester: str
    authority: str
    """The part of the requester that stands for this process in URIs."""
    server: str
    """The name of the agent of the server."""
    origin: str
    """The address of the server: `http://host:8480`."""
    sources: tuple[tuple[str, str], ...]
    """Maps each responder to the local queue for messages without a destination."""
    here: tuple[str, ...]
    """The queues of this process that messages are fetched into."""

    @property
    def own_origin(self) -> str:
        """The prefix of the names of this process's agents."""
        return f"httpr://{self.authority}"

    def destination(self, queue: str) -> str:
        """Return the format name of a queue of the server."""
        name = format_name(f"{self.server}#{quote(queue, safe='$/;@!*()~:+=&')}") if queue else ""
        if not name:
            _wrong(f"{queue!r} is not the name of a queue")
        return name


def agent_names(server: str, name: str, fetch: Sequence[str], inbox: Sequence[str]) -> AgentNames:
    """Return the names that an application gives; BadRequest names the wrong one."""
    if not _NAME.fullmatch(name):
        _wrong(f'the name of an agent is like "laptop/app", not {name!r}')
    requester, authority = f"httpr://{name}", name.partition("/")[0].lower()
    agent, ours = _server_agent(server)
    url = urlsplit(contact_url(agent))
    if read_target(f"{requester}#x") is None or authority == url.netloc.lower():
        _wrong(f"the agent {name!r} would have the name of its server {url.netloc}")
    if fetch and not ours:
        _wrong(f"{agent} has no queues to fetch by name; its messages go to the queues of `inbox`")
    for queue in (*fetch, *inbox):
        if not queue or [*fetch, *inbox].count(queue) > 1:
            _wrong(f"fetch and inbox name each queue once, and not {queue!r}")
    origin = f"{agent.partition('://')[0]}://{url.netloc}"
    sources = [(own_agent(origin, queue), queue) for queue in fetch]
    if inbox:
        sources.append((agent, inbox[0]))
    return AgentNames(
        requester=requester,
        authority=authority,
        server=agent,
        origin=f"{url.scheme}://{url.netloc}",
        sources=tuple(sources),
        here=(*fetch, *inbox),
    )


def _server_agent(server: str) -> tuple[str, bool]:
    """Return the URI under which the agent addresses the server, and whether it is a Reliquary server."""
    parts = urlsplit(server)
    if parts.scheme in _SCHEMES and parts.path in ("", "/"):
        origin = f"{_SCHEMES[parts.scheme]}://{parts.netloc}"
        agent, ours = own_agent(origin, HttprSettings().manager_service), True
    else:
        agent, ours = server, False
    target = read_target(agent)
    if target is None or not target.authority or target.destination:
        _wrong(f"{server!r} is not like http://host:8480, nor like httpr://host/service")
    return target.agent, ours


def _wrong(why: str) -> NoReturn:
    raise BadRequest("INVALID_PARAMETER", why)
