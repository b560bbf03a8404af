"""The names under which fields lie on disk, where the code has another name: rows outlive a renaming."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

STORED_NAMES: Final[Mapping[str, str]] = {
    "carrier_header": "httpr_header",
    "http_support": "srmp_http_support",
    "pgm_support": "srmp_pgm_support",
}
"""The name in the code, and the name in the row."""
