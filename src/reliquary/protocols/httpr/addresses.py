"""Agents, contact URLs and Destinations, 3.2 and 6.1.2 to 6.2.3: `httpr://host[:port]/httpr/service#queue`."""

from __future__ import annotations

from typing import Final

import msgspec

PREFIX: Final = "/httpr/"
"""Under which our server agents are found."""


class Target(msgspec.Struct, frozen=True):
    """A TargetUri in its parts."""

    agent: str
    """`httpr://host[:port]/service`, as it was written."""
    authority: str
    """`host` or `host:port` in lower case; empty where there is none."""
    path: str
    """`/httpr/service`."""
    destination: str
    """What follows `#`; opaque to all but its agent."""
