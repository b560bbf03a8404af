"""The declaration of a noun of administration, such as a channel or an outgoing queue: a `Noun`.

The room `views` declares the nouns of the manager itself, each in a file of its own, and a protocol declares
its nouns in its `nouns.py`.  All that shows a noun is built from the declaration:

    views     list, show and act, with the rights that they need
    net       GET /PLURAL     GET /PLURAL/{KEY}                                 for a noun of the data plane
    console   GET /PLURAL     GET /PLURAL/{KEY}     POST /PLURAL/{KEY}/VERB     for one of the control plane
    client    list_records    show_record           act_on                      in process or by address
    cli       NAME list       NAME show KEY         NAME VERB KEY
    docs      these paths, and the fields of the record

`client/nouns.py` lists the declarations that a manager has.  A module with a declaration imports machines
only inside its functions, because the command line reads it to print a help text.
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
"""The key that names one record."""


class Machines(Protocol):
    """An open manager and the machines of its protocols, for reading only."""

    @property
    def state(self) -> State:
        """The state of the queue manager."""

    def machine(self, kind: type[M]) -> M:
        """Return the machine of this class."""


@dataclass(frozen=True, slots=True)
class View:
    """An open manager as one user sees it, for reading only."""

    machines: Machines
    by: Principal

    @property
    def state(self) -> State:
        """The state of the queue manager."""
        return self.machines.state

    def machine(self, kind: type[M]) -> M:
        """Return the machine of this class."""
        return self.machines.machine(kind)


class Refusal(Exception):
    """The manager's answer was not OK; `status` says what is wrong."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.why or answer.status.sentence)
        self.status = answer.status


class Plane(Enum):
    """The part of a server that has the paths of a noun."""

    CONTROL = "control"
    DATA = "data"


class Done(msgspec.Struct, frozen=True):
    """A protocol's answer to an act; `why` is a sentence when it was not done."""

    done: bool
    why: str = ""


def _as_it_is(key: Any) -> Any:
    return key


@dataclass(frozen=True)
class Column(Generic[R]):
    """A computed column of a table or of a list of fields, which is not a field of the record."""

    head: str
    value: Callable[[R], object]


@dataclass(frozen=True, kw_only=True)
class Filter:
    """A parameter of a listing that leaves out records or adds some."""

    name: str
    kind: type[bool] | type[str]
    option: str
    """The option of the command line, such as `--owner`."""
    help: str
    metavar: str | None = None


@dataclass(frozen=True, kw_only=True)
class Paging(Generic[R]):
    """The way to find a page of records without finding all of them."""

    behind: Callable[..., Iterable[R]]
    """Yields the records after a place, from a View; filters are passed by name."""
    place: Callable[[R], str]
    """Returns the place of a record, which is not empty."""


@dataclass(frozen=True, kw_only=True)
class Listing(Generic[R]):
    """The way to find and print all records of a noun."""

    records: Callable[..., Iterable[R]]
    """Returns the records in a View, with the filters by name; a Refusal says why this user sees none."""
    columns: tuple[str | Column[R], ...] = ()
    """The fields of the record that a table shows; when empty, the command is written by hand."""
    help: str = ""
    """The help text of the command line; a blank line ends a paragraph."""
    filters: tuple[Filter, ...] = ()
    """The optional filters of the listing."""
    example: str = ""
    """An example of filters, as they are written in a shell."""
    paging: Paging[R] | None = None
    """The way to find pages; None when the place of a record is its number in the list."""


@dataclass(frozen=True, kw_only=True)
class RecordFormat(Generic[R]):
    """The way to name, find and print one record."""

    key: str
    """The field of the record that names it."""
    kind: type[int] | type[str]
    record: Callable[[View, Any], R | None]
    missing: HResult
    """The status for a key without a record."""
    help: str
    example: str
    """An example of a key, as it is written in a shell."""
    missing_sentence: str = ""
    """The sentence for a missing record, with `{}` for the key; when empty, the sentence of the status."""
    parse: Callable[[Any], Any] = _as_it_is
    """Converts a key to the argument of `record`; a UsageError says why a text is no key."""
    fields: tuple[str | Column[R], ...] = ()
    """The fields of the record that are printed; when empty, all of them."""
    parts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The fields that contain records, with the columns of the table that shows these."""


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """An argument of an act besides the key."""

    name: str
    kind: type[bool] | type[int] | type[str]
    option: str
    """The option of the command line, such as `--arrived/--lost`."""
    help: str
    default: bool | int | str | None = None
    """The value when the argument is left out; None when it is required."""


@dataclass(frozen=True, kw_only=True)
class Act:
    """A change that an administrator can make to one record; the answer is the changed record."""

    verb: str
    event: Callable[..., Event]
    """Makes the event from the caller's number, the key and the parameters by name.

    It is answered by `Done`, or by an `Answer` of the manager.
    """
    help: str
    needs: ManagerRight | None = ManagerRight.SET_MACHINE_PROPERTIES
    """The right that is required; without it, or without a record, the event is not submitted.

    None: the manager checks both itself, against the table of permits.
    """
    parameters: tuple[Parameter, ...] = ()
    fields: tuple[str, ...] = ()
    """Fields of the record that `event` gets by name too, such as the protocol that the record belongs to."""
    example: str = ""
    """An example of arguments, as they are written in a shell, when the key alone is not enough."""
    repeatable: bool = True
    """Whether a client may send the request again when no answer comes."""
    wait: float = 0
    """The number of seconds that the answer of another manager may take."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Noun(Generic[R]):
    """A kind of record that administrators can list, show and act on."""

    name: str
    plural: str
    record: type[R]
    """The type of the records; its fields and their docstrings make the JSON API and its reference page."""
    summary: str
    """A sentence for the list of commands."""
    listing: Listing[R]
    showing: RecordFormat[R] | None = None
    """The way to show one record; None when records have no key and are only listed."""
    acts: tuple[Act, ...] = ()
    needs: ManagerRight | None = ManagerRight.GET_MACHINE_PROPERTIES
    """The right that is required to list and to show records.

    None: `listing` and `showing` leave out, or refuse, what the user of the View may not see.
    """
    plane: Plane = Plane.CONTROL
    of_a_queue: bool = False
    """The records belong to one queue, which the path names: `/queues/{queue}/PLURAL`."""

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
        """Return the act with this verb."""
        return next(act for act in self.acts if act.verb == verb)
