"""A noun of administration, such as a channel or an outgoing queue, is declared once, as a `Noun`.

The room that keeps the state declares it, in its `nouns.py`; all that shows it is built from the declaration:

    engine    list, show and act, with the rights that they need
    net       GET /PLURAL     GET /PLURAL/{KEY}                                 of a noun of the data plane
    console   GET /PLURAL     GET /PLURAL/{KEY}     POST /PLURAL/{KEY}/VERB     of one of the control plane
    client    list_records    show_record           act_on                      in process or by address
    cli       NAME list       NAME show KEY         NAME VERB KEY
    docs      these paths, and the fields of the record

`client/nouns.py` lists the declarations that a manager has.  A `nouns.py` imports machines and views only
inside its functions, because the command line reads it to print a help text.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar

import msgspec

from reliquary.base.hresult import HResult
from reliquary.base.turn import Event
from reliquary.queueing.model.events import Answer
from reliquary.queueing.model.security.principals import Principal
from reliquary.queueing.model.security.rights import ManagerRight

if TYPE_CHECKING:
    from reliquary.queueing.model.state import State

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


@dataclass(frozen=True, slots=True)
class View:
    """An open manager as one user sees it, to be read only."""

    machines: Machines
    by: Principal

    @property
    def state(self) -> State:
        """The state of the manager itself."""
        return self.machines.state

    def machine(self, kind: type[M]) -> M:
        """The machine of this class."""
        return self.machines.machine(kind)


class Refusal(Exception):
    """The manager's answer is not OK; `status` says what is wrong."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.why or answer.status.sentence)
        self.status = answer.status


class Plane(Enum):
    """Where a server has the paths of a noun."""

    CONTROL = "control"
    DATA = "data"


class Done(msgspec.Struct, frozen=True):
    """A protocol's answer to an act; `why` is one sentence where it was not done."""

    done: bool
    why: str = ""


def _as_it_is(key: Any) -> Any:
    return key


@dataclass(frozen=True)
class Column(Generic[R]):
    """What a table or a list of fields shows, where it is not a field of the record."""

    head: str
    value: Callable[[R], object]


@dataclass(frozen=True, kw_only=True)
class Filter:
    """What leaves records out of a listing, or lets more of them in; a parameter of the query."""

    name: str
    kind: type[bool] | type[str]
    option: str
    """Of the command line, such as `--owner`."""
    help: str
    metavar: str | None = None


@dataclass(frozen=True, kw_only=True)
class Paging(Generic[R]):
    """How a page of records is found without finding all, where there may be very many."""

    behind: Callable[..., Iterable[R]]
    """Finds those behind a place, one at a time, in a View; the filters come by name."""
    place: Callable[[R], str]
    """Says which place a record has; not empty."""


@dataclass(frozen=True, kw_only=True)
class Listing(Generic[R]):
    """How all records of a noun are found and printed."""

    records: Callable[..., Iterable[R]]
    """Finds them in a View, with the filters by name; a Refusal says why this user sees none."""
    columns: tuple[str | Column[R], ...] = ()
    """Fields of the record that a table shows; without any, the command is written by hand."""
    help: str = ""
    """Text of the command line; a blank line ends a paragraph."""
    filters: tuple[Filter, ...] = ()
    """All can be left out."""
    example: str = ""
    """Filters as a shell takes them."""
    paging: Paging[R] | None = None
    """None where the place of a record is its number in the list."""


@dataclass(frozen=True, kw_only=True)
class Showing(Generic[R]):
    """How one record is named, found and printed."""

    key: str
    """The field of the record that names it."""
    kind: type[int] | type[str]
    record: Callable[[View, Any], R | None]
    missing: HResult
    """The status of a key that names nothing."""
    help: str
    example: str
    """A key as a shell takes it."""
    missing_sentence: str = ""
    """With `{}` for the key; without one, the sentence of the status."""
    parse: Callable[[Any], Any] = _as_it_is
    """Makes of a key what `record` takes; a UsageError says why something is no key."""
    fields: tuple[str | Column[R], ...] = ()
    """What is printed of the record; without any, all its fields."""
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
    default: bool | int | str | None = None
    """What counts where it is left out; None: it must be given."""


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
    needs: ManagerRight | None = ManagerRight.GET_MACHINE_PROPERTIES
    """The right without which nothing of it is shown.

    None: `listing` and `showing` leave out, or refuse, what the user of the View may not see.
    """
    plane: Plane = Plane.CONTROL
    of_a_queue: bool = False
    """Its records are those of one queue, which the path names: `/queues/{queue}/PLURAL`."""

    def __post_init__(self) -> None:
        fields = set(self.record.__struct_fields__)
        printed = (*self.listing.columns, *(() if self.showing is None else self.showing.fields))
        named = {each for each in printed if isinstance(each, str)}
        assert named <= fields, f"{self.name} has columns that are no fields"
        assert self.showing is not None or not self.acts, f"no key names the {self.name} to act on"
        assert self.plane is Plane.CONTROL or not self.acts, f"a {self.name} is acted on by hand-written code"
        assert self.plane is Plane.DATA or not self.of_a_queue, f"no path of a queue has the {self.name}"
        assert self.showing is None or {self.showing.key, *self.showing.parts} <= fields, (
            f"{self.name} is named by no field, or has parts that are none"
        )

    def act(self, verb: str) -> Act:
        """The act of this name."""
        return next(act for act in self.acts if act.verb == verb)
