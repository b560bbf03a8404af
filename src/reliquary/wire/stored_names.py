"""Lists the names of fields in stored rows where the code uses another name: rows keep their old names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

STORED_NAMES: Final[Mapping[str, str]] = {
    "carrier_header": "httpr_header",
    "http_support": "srmp_http_support",
    "pgm_support": "srmp_pgm_support",
}
"""The name in the row, by the name in the code."""
