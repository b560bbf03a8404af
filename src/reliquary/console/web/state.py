"""Holds the state that the pages of one server share while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from reliquary.console.samples import Sampler
from reliquary.console.web.assets import Asset
from reliquary.console.web.sessions import Sessions
from reliquary.net.identity.admission import Credential
from reliquary.net.identity.passwords import Passwords


@dataclass(frozen=True, slots=True)
class Console:
    """The samples, the sessions and the files of the web console."""

    sampler: Sampler
    sessions: Sessions
    assets: Mapping[str, Asset]
    tokens: Credential
    """Finds the user of a typed token."""
    passwords: Passwords
    """Finds the user of a name and a password."""
