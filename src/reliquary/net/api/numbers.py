"""Reads the numbers and ids of requests; each rule names its limit when it refuses."""

from __future__ import annotations

from functools import lru_cache
from math import ceil
from typing import Final
from uuid import UUID

from reliquary.base.chance import Chance
from reliquary.base.faults import UsageError
from reliquary.base.hresult import HResult
from reliquary.base.time import DAY, HOUR, MILLISECOND, SECOND, Duration, seconds
from reliquary.net.api.errors import Refused
from reliquary.queueing.model.events import FOREVER_WAIT
from reliquary.queueing.model.message import FOREVER, ObjectId
from reliquary.queueing.model.names.formats import is_format_name, name_of_url, parse_format
from reliquary.queueing.model.names.pathnames import parse
from reliquary.queueing.model.names.schemes import is_bare_url
from reliquary.queueing.model.tables import LAST_ID

LONGEST_WAIT: Final = Duration(7 * DAY)
LONGEST_HOLD: Final = Duration(12 * HOUR)
SHORTEST: Final = MILLISECOND
"""The shortest duration: a duration above 0 must not be rounded to 0."""
NAME_LIMIT: Final = 1024


@lru_cache(maxsize=256)
def wait_of(given: float | None) -> Duration:
    """Return a time to wait; None means without end.  Clients repeat a few times, so results are cached."""
    if given is None:
        return FOREVER_WAIT
    if not 0 <= given <= LONGEST_WAIT / SECOND:
        raise UsageError(f"timeout is 0 to {LONGEST_WAIT // SECOND} seconds or null, not {given}")
    return seconds(given)


@lru_cache(maxsize=256)
def hold_of(given: float) -> Duration:
    """Return the time for which messages are locked; 0 means that they are not locked.

    Clients repeat a few times, so results are cached.
    """
    return span_of("hold", given, LONGEST_HOLD) if given != 0 else Duration(0)


def span_of(name: str, given: float, longest: Duration) -> Duration:
    """Return the time after which an object ends automatically."""
    if not SHORTEST / SECOND <= given <= longest / SECOND:
        raise UsageError(f"{name} is {SHORTEST / SECOND} to {longest // SECOND} seconds, not {given}")
    return seconds(given)


def delay_of(given: float) -> Duration:
    """Return the time until a message becomes visible; 0 means no delay."""
    if not 0 <= given <= FOREVER:
        raise UsageError(f"delay is 0 to {FOREVER} seconds, not {given}")
    return seconds(given)


def whole_seconds(name: str, given: float, least: int) -> int:
    """Return a time that is stored in whole seconds: it is rounded up, so that it does not end early."""
    if not least <= given <= FOREVER:
        raise UsageError(f"{name} is {least} to {FOREVER} seconds, not {given:.15g}")
    return ceil(given)


def number_of(name: str, given: int, least: int, most: int) -> int:
    """Return a whole number, checked against both limits."""
    if not least <= given <= most:
        raise UsageError(f"{name} is {least} to {most}, not {given}")
    return given


def lookup_id_of(given: str) -> int:
    """Return a LookupIdentifier that was written as a string of digits."""
    if not (given.isascii() and given.isdigit() and len(given) <= 20) or int(given) > LAST_ID:
        raise UsageError(f"a lookup_id is a string with a number from 0 to {LAST_ID}, not {given[:40]!r}")
    return int(given)


def object_id_of(name: str, given: str) -> ObjectId:
    r"""Return the id of a message, which was written as GUID\NUMBER."""
    lineage, _, number = given.rpartition("\\")
    try:
        if number.isascii() and number.isdigit() and len(number) <= 10 and int(number) <= 0xFFFFFFFF:
            return ObjectId(UUID(lineage), int(number))
    except ValueError:
        pass
    raise UsageError(f"{name} is the id of a message, GUID\\NUMBER, not {given[:80]!r}")


def flag_of(name: str, given: str) -> bool:
    """Return the value of true or false in a query."""
    if given not in {"true", "false"}:
        raise UsageError(f"{name} is true or false, not {given[:40]!r}")
    return given == "true"


def queue_name(name: str, given: str) -> str:
    """Return the name of a queue that a message carries; the queue may belong to another manager."""
    if not given:
        return given
    if len(given) > NAME_LIMIT:
        raise UsageError(f"{name} has at most {NAME_LIMIT} characters, this one has {len(given)}")
    try:
        if is_format_name(given):
            parse_format(given)
        elif is_bare_url(given):
            parse_format(name_of_url(given))
        else:
            parse(given, given.replace("/", "\\").partition("\\")[0])
    except UsageError as why:
        raise UsageError(f"{name} is the name of a queue: {why}") from why
    return given


def tracing_queue_of(given: str) -> UUID:
    """Return the id of the queue that receives trace reports."""
    try:
        return UUID(given)
    except ValueError:
        raise UsageError(f"tracing_queue is the id of a queue, a GUID, not {given[:80]!r}") from None


class Tickets:
    """Handles, cursors and receipts in the form that clients see.

    The machine numbers them from 1 at every start.  An old receipt must not acknowledge messages that
    another client has locked after a restart, so each carries a random mark of this run.
    """

    __slots__ = ("_mark",)

    def __init__(self, chance: Chance) -> None:
        self._mark = f"{chance.bits(64):016x}-"

    def write(self, number: int) -> str:
        """Return the text for a number, which clients get."""
        return f"{self._mark}{number}"

    def read(self, what: str, given: str) -> int:
        """Return the number of a text; it must be of this run."""
        number = given.removeprefix(self._mark)
        if number == given or not (number.isascii() and number.isdigit() and len(number) <= 20):
            raise Refused(HResult.INVALID_HANDLE, f"the {what} is not known: it may be of an earlier run")
        return int(number)
