"""Checks the files that settings name, so that a wrong path is reported with its line and key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from reliquary.server.config import Settings
from reliquary.server.loading import load_with_origins
from reliquary.server.origins import naming_origin
from reliquary.server.peer_entries import peers_of
from reliquary.server.protocols import PROTOCOLS
from reliquary.server.reload import contexts_of


def load_checked(
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    given: Mapping[str, object] | None = None,
    chosen: Sequence[str] = (),
) -> Settings:
    """Return the settings from all sources, as `load` does, after a check of the files that they name."""
    settings, origins = load_with_origins(file, environment, given, chosen)
    with naming_origin(origins):
        check_files(settings)
    return settings


def check_files(settings: Settings) -> None:
    """Read certificates, keys and tokens, and check the packages of tracing; UsageError names the key."""
    contexts_of(settings)
    for each in PROTOCOLS:
        each.prepare(settings)
    settings.tracing.check_installed()
    peers_of(settings.peers)
