"""What schemathesis has to know of this API beside its description; loaded by its command line.

Requests must neither wait for messages nor write to paths of the machine, and two media types need a writer.
A request that fits the description may break a rule that no schema can state, such as one for the names of
queues: the refusals of these rules are listed here, each by the beginning of its sentence.
"""

from __future__ import annotations

import json
import os
from typing import Any, Final

import schemathesis

FOLDER: Final = os.environ.get("SCHEMATHESIS_FOLDER", "/nonexistent")
RULES: Final = (
    "a queue name", "a subqueue name", "a computer name", "the name of a consumer", "'", '"',  # names
    "response_queue is", "administration_queue is", "deadletter_queue is", "DIRECT=", "a format name",
    "acknowledgements are asked for", "httpr ", "the header field", "a header field", "there is no field",
    "a peek ", "a receive is held", "one request", "either a query", "after belongs",
    "a place in this feed",
    "the name of the user ", "an owner is", "the next message", "a message ", "a priority ", "reach ",
    "a cursor ", "tracestate means nothing",
    "lookup_ids", "there is no column", "a condition is", "there is no user", "there is no right",
    "a retry delay of", "a transactional queue", "a query", "a writer", "a batch", "the query", "the writer",
    "deny needs", "grant needs", "rights", "0 is a queue", "a backup makes",
    "Expected `int", "an attempt", "this is not an Arrow stream", "this is not TOML", "a part",
)  # fmt: skip

_WAITS: Final = ("/receive", "/peek")
_WRITES: Final = ("/store/backup", "/history/export")


@schemathesis.hook
def before_call(context: Any, case: Any, kwargs: Any) -> None:
    """Let no request wait, and let no copy leave the folder of the test."""
    body = case.body
    if not isinstance(body, dict):
        return
    if "timeout" in body and (body["timeout"] is None or isinstance(body["timeout"], (int, float))):
        body["timeout"] = 0 if case.path.endswith(_WAITS) else body["timeout"]
    for name in ("path", "to"):
        if case.path.endswith(_WRITES) and isinstance(body.get(name), str):
            body[name] = FOLDER + "/copy" if body[name].startswith("/") else body[name]


@schemathesis.hook
def filter_failure(context: Any, failure: Any, case: Any, response: Any) -> bool:
    """Keep a failure, unless a valid request was refused by a rule that the description cannot have."""
    if type(failure).__name__ != "RejectedPositiveData":
        return True
    if response.status_code in (409, 410, 413, 507) or "/directory/" in case.path:
        return False  # attributes of directory objects depend on the kind in the path
    return not json.loads(response.content)["error"].startswith(RULES)


@schemathesis.serializer("application/vnd.apache.arrow.stream", "application/toml")
def write_bytes(context: Any, value: Any) -> Any:
    """Return bytes unchanged, and other values as text in bytes."""
    found = getattr(value, "data", value)
    return found if isinstance(found, bytes) else str(found).encode()
