"""Defines types of values in requests, with the limits that the description of the API shows.

The limits here are only for the description: `numbers`, the handlers and the manager check them, and
report errors in their own sentences.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import msgspec

from reliquary.base.time import SECOND
from reliquary.net.api.numbers import LONGEST_HOLD, LONGEST_WAIT, NAME_LIMIT
from reliquary.queueing.feed.consumers import NAME_LIMIT as CONSUMER_NAME_LIMIT
from reliquary.queueing.model.message import FOREVER
from reliquary.queueing.model.tables import SEQUENCE_MASK
from reliquary.views.pages import LARGEST_PAGE, PAGE


def limited(**schema: Any) -> msgspec.Meta:
    """Return keywords of JSON Schema for a type, which do not change how it is decoded."""
    return msgspec.Meta(extra_json_schema=schema)


def either(*cases: Mapping[str, Any]) -> msgspec.Meta:
    """Return a rule for dependent fields: a request must match one of these cases."""
    return limited(anyOf=[_case(each) for each in cases])


def _case(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return a case by its fields.

    None and False are values of an optional field; a list has the values of a required field, and ...
    stands for any string in a required field.
    """
    required = [name for name, value in fields.items() if value is ... or isinstance(value, list)]
    return {"properties": {name: _value(value) for name, value in fields.items()}, "required": required}


def _value(value: Any) -> dict[str, Any]:
    if value is ...:
        return {"type": "string", "minLength": 1}
    return {"enum": value} if isinstance(value, list) else {"const": value}


Digits = Annotated[str, limited(pattern=f"^[0-9]{{1,{len(str(SEQUENCE_MASK)) - 1}}}$")]
"""A number as a string, because JavaScript would round it."""
PlainNumber = Annotated[int, limited(minimum=0, maximum=SEQUENCE_MASK)]
"""The type of a number where a string of digits is usual."""
Guid = Annotated[str, limited(format="uuid")]
LookupId = Annotated[str, limited(pattern="^([0-9]{1,17}|[0-4][0-9]{17})$")]
Name = Annotated[str, limited(minLength=1)]
ConsumerName = Annotated[str, limited(minLength=1, maxLength=CONSUMER_NAME_LIMIT)]
QueueName = Annotated[str, limited(maxLength=NAME_LIMIT)]
Octets = Annotated[bytes, limited(format="byte")]
"""A field of bytes, which JSON carries in base64."""
Number32 = Annotated[int, limited(minimum=0, maximum=FOREVER)]
Wait = Annotated[float, limited(minimum=0, maximum=LONGEST_WAIT // SECOND)]
Span = Annotated[float, limited(minimum=0.001, maximum=LONGEST_WAIT // SECOND)]
Hold = Annotated[float, limited(anyOf=[{"const": 0}, {"minimum": 0.001, "maximum": LONGEST_HOLD // SECOND}])]
FewOrMany = Annotated[int, limited(minimum=1, maximum=LARGEST_PAGE)]
PageSize = Annotated[int, limited(minimum=1, maximum=LARGEST_PAGE, default=PAGE)]
