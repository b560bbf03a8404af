"""Libraries of others, whose types are not checked and whose warnings are not ours."""

from __future__ import annotations

import logging
import warnings
from importlib import import_module
from typing import Any


def foreign(module: str) -> Any:
    """Import a module without its warnings and without what it logs."""
    logging.getLogger("scapy").setLevel(logging.CRITICAL)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return import_module(module)
