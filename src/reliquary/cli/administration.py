"""The commands of the nouns of administration, built from their declarations.

reliquary channel list           all records, as a table of the declared columns or as JSON
reliquary channel show 1         one record, its fields and then its parts
reliquary channel settle 5 ...   an act, and the record as it is then
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from reliquary.cli.connection import connected
from reliquary.cli.examples import examples
from reliquary.cli.output import format_option, print_record, print_records

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from reliquary.queueing.administration import Act, Noun, Showing


def groups() -> Mapping[str, click.Group]:
    """The group of each noun that a manager has, by its name."""
    from reliquary.client.nouns import NOUNS

    return {noun.name: group_of(noun) for noun in NOUNS}


def group_of(noun: Noun[Any]) -> click.Group:
    """The commands of one noun."""
    group = click.Group(noun.name, help=noun.summary)
    _add_list(group, noun)
    if noun.showing is not None:
        _add_show(group, noun, noun.showing)
        for act in noun.acts:
            _add_act(group, noun, noun.showing, act)
    return group


def _add_list(group: click.Group, noun: Noun[Any]) -> None:
    def run(as_json: bool | None) -> None:
        with connected() as manager:
            records = manager.list_records(noun)
        print_records(records, noun.listing.columns, as_json, _parts(noun))

    _add(group, "list", run, noun.listing.help, f"reliquary {noun.name} list")


def _add_show(group: click.Group, noun: Noun[Any], showing: Showing[Any]) -> None:
    def run(as_json: bool | None, **given: Any) -> None:
        with connected() as manager:
            record = manager.show_record(noun, given[showing.key])
        print_record(record, as_json, showing.parts)

    example = f"reliquary {noun.name} show {showing.example}"
    _add(group, "show", run, showing.help, example, _key(showing))


def _add_act(group: click.Group, noun: Noun[Any], showing: Showing[Any], act: Act) -> None:
    def run(as_json: bool | None, **given: Any) -> None:
        key = given.pop(showing.key)
        with connected() as manager:
            record = manager.act_on(noun, key, act.verb, **given)
        print_record(record, as_json, showing.parts)

    options = [
        click.option(each.option, each.name, type=each.kind, required=True, help=each.help)
        for each in act.parameters
    ]
    example = f"reliquary {noun.name} {act.verb} {act.example or showing.example}"
    _add(group, act.verb, run, act.help, example, _key(showing), *options)


def _key(showing: Showing[Any]) -> Callable[[Any], Any]:
    return click.argument(showing.key, type=showing.kind)


def _add(
    group: click.Group,
    name: str,
    run: Callable[..., None],
    text: str,
    example: str,
    *parameters: Callable[[Any], Any],
) -> None:
    run.__doc__ = text
    command: Any = format_option(examples(example)(run))
    for parameter in reversed(parameters):
        command = parameter(command)
    group.command(name)(command)


def _parts(noun: Noun[Any]) -> Mapping[str, Sequence[str]]:
    return {} if noun.showing is None else noun.showing.parts
