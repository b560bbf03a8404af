"""Recognizes variables that Kubernetes sets for a Service `reliquary`; they are no settings.

    RELIQUARY_SERVICE_HOST=10.0.0.11               RELIQUARY_PORT=tcp://10.0.0.11:8480
    RELIQUARY_SERVICE_PORT=8480                    RELIQUARY_PORT_8480_TCP=tcp://10.0.0.11:8480
    RELIQUARY_SERVICE_PORT_DATA=8480               RELIQUARY_PORT_8480_TCP_PROTO=tcp, ..._PORT, ..._ADDR

Those of a Service `reliquary-data` begin with RELIQUARY_DATA_: RELIQUARY_DATA_PORT=tcp://10.0.0.11:8480 has
the name of a setting, and its value shows that it is none.
"""

from __future__ import annotations

import re
from typing import Final

_NAME: Final = re.compile(
    r"RELIQUARY(_\w+)?_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?)"
)
_PORT: Final = re.compile(r"RELIQUARY(_\w+)?_PORT")
_ADDRESS: Final = re.compile(r"(tcp|udp|sctp)://.+")


def is_of_kubernetes(variable: str, value: str) -> bool:
    """Return whether a variable of the environment has the form of those that Kubernetes sets for a Service.

    >>> [is_of_kubernetes("RELIQUARY_DATA_PORT", value) for value in ("tcp://10.0.0.11:8480", "8480")]
    [True, False]
    """
    if _NAME.fullmatch(variable):
        return True
    return _PORT.fullmatch(variable) is not None and _ADDRESS.fullmatch(value) is not None
