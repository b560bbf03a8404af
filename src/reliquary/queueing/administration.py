"""A noun of administration, such as a channel or an outgoing queue, is declared once, as a `Noun`.

The room that keeps the state declares it, in its `nouns.py`; all that shows it is built from the declaration:

    engine    list, show and act, with the rights that they need
    console   GET /PLURAL     GET /PLURAL/{KEY}     POST /PLURAL/{KEY}/VERB
    client    list_records    show_record           act_on                      in process or by address
    cli       NAME list       NAME show KEY         NAME VERB KEY
    docs      these paths, and the fields of the record

`client/nouns.py` lists the declarations that a manager has.  A `nouns.py` imports machines and views only
inside its functions, because the command line reads it to print a help text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import msgspec

from reliquary.base.hresult import HResult
from reliquary.base.turn import Event
from reliquary.queueing.security.rights import ManagerRight

if TYPE_CHECKING:
    from reliquary.queueing.state import State

M = TypeVar("M")
R = TypeVar("R", bound=msgspec.Struct)

Key = int | str
"""What names one record."""


class Machines(Protocol):
    """An open manager and the machines of its protocols, to be read only."""

    @property
    def state(self) -> State:
        """The state of the manager itself."""

    def machine(self, kind: type[M]) -> M:
        """The machine of this class."""


class Done(msgspec.Struct, frozen=True):
    """A protocol's answer to an act; `why` is one sentence where it was not done."""

    done: bool
    why: str = ""


@dataclass(frozen=True, kw_only=True)
class Listing(Generic[R]):
    """How all records of a noun are found and printed."""

    records: Callable[[Machines], Iterable[R]]
    columns: tuple[str, ...]
    """Fields of the record that a table shows."""
    help: str
    """Text of the command line; a blank line ends a paragraph."""


@dataclass(frozen=True, kw_only=True)
class Showing(Generic[R]):
    """How one record is named, found and printed."""

    key: str
    """The field of the record that names it."""
    kind: type[int] | type[str]
    record: Callable[[Machines, Any], R | None]
    missing: HResult
    """The status of a key that names nothing."""
    missing_sentence: str
    """With `{}` for the key."""
    help: str
    example: str
    """A key as a shell takes it."""
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Fields that hold records themselves, with the columns of the table that shows those."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """What an act needs to know besides the key."""

    name: str
    kind: type[bool] | type[int] | type[str]
    option: str
    """Of the command line, such as `--arrived/--lost`."""
    help: str


@dataclass(frozen=True, kw_only=True)
class Act:
    """What an administrator can do to one record; the answer is the record as it is then."""

    verb: str
    event: Callable[..., Event]
    """Makes the event from the caller's number, the key and the parameters by name.

    It is answered by `Done`, or by an `Answer` of the manager.
    """
    help: str
    needs: ManagerRight | None = ManagerRight.SET_MACHINE_PROPERTIES
    """The right without which the event is not submitted, as it is not for a key that names nothing.

    None: the manager checks both itself, against the table of `security/permits.py`.
    """
    parameters: tuple[Parameter, ...] = ()
    example: str = ""
    """Arguments as a shell takes them, where the example of the key is not enough."""
    repeatable: bool = True
    """A client may send it again when no answer comes."""
    wait: float = 0
    """Seconds that another manager may take before this one can answer."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Noun(Generic[R]):
    """What administrators list, show and act on."""

    name: str
    plural: str
    record: type[R]
    """Its fields, with their docstrings, are the fields of the JSON API and of its reference page."""
    summary: str
    """One sentence for the list of commands."""
    listing: Listing[R]
    showing: Showing[R] | None = None
    """None: its records have no names, so they are only listed."""
    acts: tuple[Act, ...] = ()
    needs: ManagerRight = ManagerRight.GET_MACHINE_PROPERTIES
    """The right without which nothing of it is shown."""

    def __post_init__(self) -> None:
        fields = set(self.record.__struct_fields__)
        assert set(self.listing.columns) <= fields, f"{self.name} has columns that are no fields"
        assert self.showing is not None or not self.acts, f"no key names the {self.name} to act on"
        assert self.showing is None or {self.showing.key, *self.showing.parts} <= fields, (
            f"{self.name} is named by no field, or has parts that are none"
        )

    def act(self, verb: str) -> Act:
        """The act of this name."""
        return next(act for act in self.acts if act.verb == verb)
