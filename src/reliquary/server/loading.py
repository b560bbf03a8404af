"""Reads settings: defaults, then a TOML file, then RELIQUARY_* variables, then the command line.

    folder = "/var/lib/reliquary"       RELIQUARY_FOLDER
    data_port = 8480                    RELIQUARY_DATA_PORT
    queues = ["orders", "invoices"]     RELIQUARY_QUEUES=orders,invoices
    [srmp]                              RELIQUARY_SRMP_..., see `srmp_options`
    [httpr]                             RELIQUARY_HTTPR_..., see `httpr_options`
    [wsrm]                              RELIQUARY_WSRM_..., see `wsrm_options`
    [multicast]                         RELIQUARY_MULTICAST_..., see `net.multicast.options`
    [history]                           RELIQUARY_HISTORY_..., see `history_options`
    [limits]                            RELIQUARY_LIMITS_..., see `limit_options`
    [acts]                              RELIQUARY_ACTS_..., see `acts_options`
    [[queue]]                           only here, see `queue_entries`
    [[peers]]                           only here, see `peer_entries`
    [tracing]                           RELIQUARY_TRACING_..., see `tracing_options`
    store_and_forward = true
    [[users]]                           only here; `reliquary user token` writes the lines
    name = "alice"
    token_sha256 = "..."                for HTTP; of the two hashes one is needed
    nt_hash = "..."                     for NTLM over MQQP

On the command line `--set NAME=VALUE` accepts every name of the environment: `--set history.keep_days=7`.

An unknown setting is refused by name, because a misspelled one must not be ignored.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, get_origin, get_type_hints

import msgspec

from reliquary.base.faults import UsageError
from reliquary.base.toml import read_toml
from reliquary.net.multicast.options import MulticastOptions
from reliquary.server import acts_options, history_options, limit_options, tracing_options
from reliquary.server.acts_options import ActsOptions
from reliquary.server.config import Settings
from reliquary.server.history_options import HistoryOptions
from reliquary.server.kubernetes import is_of_kubernetes
from reliquary.server.limit_options import LimitOptions
from reliquary.server.origins import Loaded, Origins, Source, naming_origin
from reliquary.server.protocols import PROTOCOLS
from reliquary.server.table import Table
from reliquary.server.tracing_options import TracingOptions
from reliquary.server.values import as_path, explained

PREFIX: Final = "RELIQUARY_"
NOT_OURS: Final = frozenset(
    {
        "RELIQUARY_SERVER",
        "RELIQUARY_CONTROL",
        "RELIQUARY_SETTINGS",
        "RELIQUARY_TOKEN",
        "RELIQUARY_TOKEN_FILE",
        "RELIQUARY_USER",
        "RELIQUARY_PASSWORD",
        "RELIQUARY_PASSWORD_FILE",
        "RELIQUARY_CA_FILE",
        "RELIQUARY_CERTIFICATE",
        "RELIQUARY_KEY",
    }
)
"""Variables for the client and the command line, which are no settings of a server."""

_TYPES: Final = get_type_hints(Settings)
_MULTICAST: Final = get_type_hints(MulticastOptions)


def _for_multicast(name: str, value: object, *, strict: bool) -> Any:
    return msgspec.convert(value, _MULTICAST[name], strict=strict)


OF_PROTOCOLS: Final = tuple(each.table for each in PROTOCOLS if each.table is not None)
TABLES: Final = (
    *OF_PROTOCOLS,
    Table(
        name="multicast",
        names=tuple(_MULTICAST),
        convert=_for_multicast,
        options=lambda values: MulticastOptions(**values),
    ),
    Table(
        name="history",
        names=history_options.NAMES,
        convert=history_options.convert,
        options=lambda values: HistoryOptions(**values),
    ),
    Table(
        name="limits",
        names=limit_options.NAMES,
        convert=limit_options.convert,
        options=lambda values: LimitOptions(**values),
    ),
    Table(
        name="acts",
        names=acts_options.NAMES,
        convert=acts_options.convert,
        options=lambda values: ActsOptions(**values),
    ),
    Table(
        name="tracing",
        names=tracing_options.NAMES,
        convert=tracing_options.convert,
        options=lambda values: TracingOptions(**values),
    ),
)
FOR_THE_FILE: Final = frozenset({"users", "queue", "peers"})
"""The settings outside the tables that cannot be written in one line."""


def _names() -> tuple[str, ...]:
    """Return the names of all settings and tables, in the order of `Settings`."""
    found: list[str] = []
    for one in fields(Settings):
        found += [each.name for each in OF_PROTOCOLS] if one.name == "tables" else [one.name]
    return tuple(found)


NAMES: Final = _names()


def load(
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    given: Mapping[str, object] | None = None,
    chosen: Sequence[str] = (),
) -> Settings:
    """Return the settings from all sources; a later source wins. UsageError has the error and its place.

    `chosen` are texts NAME=VALUE of the command line, `given` its other options.
    """
    return load_with_origins(file, environment, given, chosen).settings


def load_with_origins(
    file: Path | None = None,
    environment: Mapping[str, str] | None = None,
    given: Mapping[str, object] | None = None,
    chosen: Sequence[str] = (),
) -> Loaded:
    """Return the settings from all sources, and the origin of each one."""
    values: dict[str, Any] = {}
    in_tables: dict[str, dict[str, Any]] = {}
    origins: Origins = {}
    for source, strict in (
        (Source.of_file(file, _read) if file else Source(), True),
        (Source(_from_environment(environment or {}), "environment"), False),
        (Source(_from_options(chosen)), False),
        (Source({name: each for name, each in (given or {}).items() if each is not None}), True),
    ):
        found = dict(source.values)
        for table in TABLES:
            if table.name in found:
                converted = _convert_table(source, table, found.pop(table.name), strict=strict)
                in_tables.setdefault(table.name, {}).update(converted)
                origins |= {(table.name, name): source.origin(table.name, name) for name in converted}
                origins["", table.name] = source.origin("", table.name)
        values |= _convert(source, found, strict=strict)
        origins |= source.rows()
        origins |= {("", name): source.origin("", name) for name in found}
    with naming_origin(origins):
        made = {each.name: each.options(in_tables[each.name]) for each in TABLES if each.name in in_tables}
        of_protocols = tuple(made.pop(each.name) for each in OF_PROTOCOLS if each.name in made)
        return Loaded(Settings(**values, tables=of_protocols, **made), origins)


def _read(file: Path) -> tuple[str, dict[str, Any]]:
    try:
        text = file.read_text(encoding="utf-8")
        return text, read_toml(text)
    except OSError as why:
        raise UsageError(f"the settings in {file} cannot be read: {why.strerror}") from why
    except (UsageError, UnicodeDecodeError) as why:
        raise UsageError(f"the settings in {file} are not TOML: {why}") from why


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for variable, text in environment.items():
        if not variable.startswith(PREFIX) or variable in NOT_OURS or is_of_kubernetes(variable, text):
            continue
        name = variable.removeprefix(PREFIX).lower()
        table = next((each for each in TABLES if name.startswith(f"{each.name}_")), None)
        if table is not None:
            name = name.removeprefix(f"{table.name}_")
            _refuse_in_environment(name, table.is_for_the_file(name))
            _refuse_unknown(variable, name in table.names)
            found.setdefault(table.name, {})[name] = _split(text, table.is_list(name))
        else:
            _refuse_in_environment(name, name in FOR_THE_FILE)
            _refuse_unknown(variable, name in NAMES)
            found[name] = _split(text, get_origin(_TYPES.get(name)) is tuple)
    return found


def _from_options(chosen: Sequence[str]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for each in chosen:
        name, equals, text = each.partition("=")
        first, dot, second = name.strip().partition(".")
        if not equals or not first:
            raise UsageError(f"--set takes NAME=VALUE, such as history.keep_days=7, not {each[:80]!r}")
        if not dot:
            _refuse_in_environment(first, first in FOR_THE_FILE, "--set")
            found[first] = _split(text, get_origin(_TYPES.get(first)) is tuple)
            continue
        table = next((one for one in TABLES if one.name == first), None)
        if table is None:
            known = ", ".join(one.name for one in TABLES)
            raise UsageError(f"--set: there is no table {first[:80]!r}; these are {known}")
        _refuse_in_environment(second, table.is_for_the_file(second), "--set")
        found.setdefault(first, {})[second] = _split(text, table.is_list(second))
    return found


def _refuse_in_environment(name: str, refused: bool, where: str = "environment") -> None:
    if refused:
        raise UsageError(f"{where}: {name} stand in the settings file alone")


def _refuse_unknown(variable: str, known: bool) -> None:
    if known:
        return
    in_tables = (f"{table.name}_{name}" for table in TABLES for name in table.names)
    wrong = variable.removeprefix(PREFIX).lower()[:80]
    close = get_close_matches(wrong, (*NAMES, *in_tables), n=1, cutoff=0.75)
    what = (
        f"did you mean {PREFIX}{close[0].upper()}?"
        if close
        else "`reliquary config show --effective` lists all"
    )
    raise UsageError(f"environment: {variable[:80]} names no setting; {what}")


def _split(text: str, is_list: bool) -> str | list[str]:
    return [part.strip() for part in text.split(",") if part.strip()] if is_list else text


def _convert(source: Source, values: Mapping[str, Any], *, strict: bool) -> dict[str, Any]:
    converted = {}
    for name, value in values.items():
        if name not in NAMES:
            known = known_names(name, NAMES)
            raise UsageError(f"{source.prefix('', name)}there is no setting {name[:80]!r}; {known}")
        try:
            converted[name] = msgspec.convert(value, _TYPES[name], strict=strict, dec_hook=as_path)
        except msgspec.ValidationError as why:
            where, what = source.prefix_of_value("", name, why), explained(why, _TYPES[name])
            raise UsageError(f"{where}{name}: {what}") from why
    return converted


def known_names(wrong: str, names: Iterable[str]) -> str:
    """Return the setting that was probably meant, or all settings.

    >>> known_names("data_prot", ["data_host", "data_port"]), known_names("x", ["data_host", "data_port"])
    ('did you mean data_port?', 'these are data_host, data_port')
    """
    every = list(names)
    close = get_close_matches(wrong[:80], every, n=1, cutoff=0.75)
    return f"did you mean {close[0]}?" if close else f"these are {', '.join(every)}"


def _convert_table(source: Source, table: Table, values: object, *, strict: bool) -> dict[str, Any]:
    if not isinstance(values, dict):
        where = source.prefix("", table.name)
        raise UsageError(f"{where}{table.name} is a table, [{table.name}], not {repr(values)[:80]}")
    converted = {}
    for name, value in values.items():
        if name not in table.names:
            where, known = source.prefix(table.name, name), known_names(name, table.names)
            raise UsageError(f"{where}there is no setting {name[:80]!r} in [{table.name}]; {known}")
        try:
            converted[name] = table.convert(name, value, strict=strict)
        except (msgspec.ValidationError, UsageError) as why:
            where = source.prefix_of_value(table.name, name, why)
            raise UsageError(f"{where}{table.name}.{name}: {why}") from why
    return converted
