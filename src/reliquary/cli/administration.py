"""Builds the commands of the nouns of administration from their declarations.

reliquary channel list           all records, as a table of the declared columns or as JSON
reliquary channel show 1         one record, its fields and then its parts
reliquary channel settle 5 ...   an act, which prints the new record
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_record, print_records

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reliquary.queueing.model.administration import Act, Filter, Noun, R, RecordFormat


def groups(by_hand: Mapping[str, Sequence[click.Command]]) -> Mapping[str, click.Group]:
    """Return the group of each noun that a manager has, by its name, with the commands written by hand."""
    from reliquary.client.nouns import NOUNS

    found = {noun.name: group_of(noun) for noun in NOUNS}
    for name, commands in by_hand.items():
        for command in commands:
            found[name].add_command(command)
    return found


def group_of(noun: Noun[Any]) -> click.Group:
    """Return the group with the commands of one noun."""
    group = click.Group(noun.name, help=noun.summary)
    if noun.listing.columns:
        _add_list(group, noun)
    if noun.showing is not None:
        _add_show(group, noun, noun.showing)
        for act in noun.acts:
            _add_act(group, noun, noun.showing, act)
    return group


def print_shown(showing: RecordFormat[R] | None, record: R, as_json: bool | None) -> None:
    """Print one record of a noun."""
    assert showing is not None, "the noun is only listed"
    print_record(record, as_json, showing.parts, showing.fields)


def _add_list(group: click.Group, noun: Noun[Any]) -> None:
    listing = noun.listing

    def run(as_json: bool | None, **filters: Any) -> None:
        with connected() as manager:
            records = manager.list_records(noun, **filters)
        print_records(records, listing.columns, as_json, _parts(noun))

    plain = f"reliquary {noun.name} list"
    lines = [plain, f"{plain} {listing.example}"] if listing.example else [plain]
    _add(group, "list", run, listing.help, lines, *map(_filter, listing.filters))


def _add_show(group: click.Group, noun: Noun[Any], showing: RecordFormat[Any]) -> None:
    def run(as_json: bool | None, **given: Any) -> None:
        with connected() as manager:
            record = manager.show_record(noun, given[showing.key])
        print_shown(showing, record, as_json)

    example = f"reliquary {noun.name} show {showing.example}"
    _add(group, "show", run, showing.help, [example], _key(showing))


def _add_act(group: click.Group, noun: Noun[Any], showing: RecordFormat[Any], act: Act) -> None:
    def run(as_json: bool | None, **given: Any) -> None:
        key = given.pop(showing.key)
        with connected() as manager:
            record = manager.act_on(noun, key, act.verb, **given)
        print_shown(showing, record, as_json)

    options = [
        click.option(
            each.option,
            each.name,
            type=each.kind,
            required=each.default is None,
            default=each.default,
            help=each.help,
        )
        for each in act.parameters
    ]
    example = f"reliquary {noun.name} {act.verb} {act.example or showing.example}"
    _add(group, act.verb, run, act.help, [example], _key(showing), *options)


def _filter(each: Filter) -> Callable[[Any], Any]:
    flag = each.kind is bool
    return click.option(each.option, each.name, is_flag=flag, metavar=each.metavar, help=each.help)


def _key(showing: RecordFormat[Any]) -> Callable[[Any], Any]:
    return click.argument(showing.key, type=showing.kind)


def _add(
    group: click.Group,
    name: str,
    run: Callable[..., None],
    text: str,
    lines: Sequence[str],
    *parameters: Callable[[Any], Any],
) -> None:
    run.__doc__ = text
    command: Any = format_option(examples(*lines)(run))
    for parameter in reversed(parameters):
        command = parameter(command)
    group.command(name)(command)


def _parts(noun: Noun[Any]) -> Mapping[str, Sequence[str]]:
    return {} if noun.showing is None else noun.showing.parts
