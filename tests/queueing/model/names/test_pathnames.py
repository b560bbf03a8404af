"""Path names: how they are parsed, printed, compared and refused."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliquary.base.faults import UsageError
from reliquary.queueing.model.names.pathnames import (
    COMPUTER_NAME_LIMIT,
    FORBIDDEN,
    QUEUE_NAME_LIMIT,
    SUBQUEUE_NAME_LIMIT,
    SYSTEM_QUEUES,
    Pathname,
    parse,
)
from reliquary.queueing.model.queue import QueueType

PRIVATE, PUBLIC, SYSTEM = QueueType.PRIVATE, QueueType.PUBLIC, QueueType.SYSTEM

printable = st.characters(exclude_categories=["C"], exclude_characters=FORBIDDEN + "/")


def words(limit: int) -> st.SearchStrategy[str]:
    return st.text(printable, min_size=1, max_size=limit)


subqueues = words(SUBQUEUE_NAME_LIMIT).filter(lambda name: name.casefold() != "journal")
queues = words(QUEUE_NAME_LIMIT)
pathnames = st.one_of(
    st.builds(Pathname, st.just(PRIVATE), queues, st.one_of(st.just(""), subqueues)),
    st.builds(Pathname, st.just(PRIVATE), queues, journal=st.just(True)),
    st.builds(Pathname, st.just(PUBLIC), queues, st.one_of(st.just(""), subqueues)),
    st.builds(Pathname, st.just(SYSTEM), st.sampled_from(SYSTEM_QUEUES)),
)


@given(pathnames)
def test_a_name_that_was_printed_reads_back_unchanged(path: Pathname) -> None:
    """Names have a computer in front; without one, a public queue would be taken for a private one."""
    assert parse(f".\\{path}") == path


@given(pathnames)
def test_the_computers_own_names_and_the_dot_all_mean_this_manager(path: Pathname) -> None:
    for computer in (".", "", "localhost", "LOCALHOST", "alpha", "ALPHA", "Alpha.Example"):
        assert parse(f"{computer}\\{path}", "Alpha", "alpha.example") == path


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("orders", Pathname(PRIVATE, "orders"), id="as people write it"),
        pytest.param("private$\\orders", Pathname(PRIVATE, "orders"), id="without the computer"),
        pytest.param("PRIVATE$\\orders", Pathname(PRIVATE, "orders"), id="loud"),
        pytest.param("private$/orders", Pathname(PRIVATE, "orders"), id="with a slash"),
        pytest.param(".\\private$\\orders", Pathname(PRIVATE, "orders"), id="in full"),
        pytest.param(".\\orders", Pathname(PUBLIC, "orders"), id="public"),
        pytest.param("orders;retry", Pathname(PRIVATE, "orders", "retry"), id="a subqueue"),
        pytest.param("orders;journal", Pathname(PRIVATE, "orders", journal=True), id="a journal"),
        pytest.param("orders;JOURNAL", Pathname(PRIVATE, "orders", journal=True), id="a loud journal"),
        pytest.param(".\\orders;journal", Pathname(PUBLIC, "orders", journal=True), id="a public journal"),
        pytest.param("system$;deadletter", Pathname(SYSTEM, "deadletter"), id="dead letters"),
        pytest.param("SYSTEM$;DeadXact", Pathname(SYSTEM, "deadxact"), id="loud dead letters"),
        pytest.param(".\\system$;journal", Pathname(SYSTEM, "journal"), id="the system journal"),
    ],
)
def test_every_form_of_a_name_is_parsed(text: str, expected: Pathname) -> None:
    assert parse(text) == expected


@pytest.mark.spec("DM-140")
@pytest.mark.parametrize(
    ("text", "kind"),
    [("a", PRIVATE), (".\\private$\\a", PRIVATE), (".\\a", PUBLIC), ("system$;journal", SYSTEM)],
)
def test_the_name_determines_the_kind_of_queue(text: str, kind: QueueType) -> None:
    assert parse(text).kind is kind


@given(words(QUEUE_NAME_LIMIT), st.one_of(st.just(""), subqueues))
def test_names_compare_without_regard_to_case(name: str, subqueue: str) -> None:
    path = Pathname(PRIVATE, name, subqueue)
    for other in (str.upper, str.lower, str.swapcase):
        loud = Pathname(PRIVATE, other(name), other(subqueue))
        if other(name).casefold() == name.casefold() and other(subqueue).casefold() == subqueue.casefold():
            assert loud.key == path.key


def test_what_differs_in_more_than_case_differs() -> None:
    names = ["a", "b", "a;s", "a;t", ".\\a", ".\\a;s", "a;journal", ".\\a;journal", "system$;journal"]
    assert len({parse(name).key for name in names}) == len(names)


def test_a_journal_and_a_subqueue_name_their_queue() -> None:
    assert parse("a;retry").queue == parse("a;journal").queue == parse("a").queue == parse("a")


# -- refusals


@pytest.mark.spec("DM-136")
@pytest.mark.parametrize("character", [*FORBIDDEN, "\0", "\t", "\n", "\x7f", "\u200b", "\ud800"])
def test_every_forbidden_character_is_named(character: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse(f".\\private$\\a{character}b" if character != ";" else "a;b;c")
    if character != "\\":  # which makes it another form of name
        assert repr(character) in str(refusal.value)


@pytest.mark.spec("DM-136")
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        pytest.param("q" * 125, "a queue name has 1 to 124 characters, this one has 125", id="a long name"),
        pytest.param(".\\private$\\", "a queue name has 1 to 124 characters, this one has 0", id="no name"),
        pytest.param("", "a queue name has 1 to 124 characters, this one has 0", id="nothing at all"),
        pytest.param(
            f"a;{'s' * 33}", "a subqueue name has 1 to 32 characters, this one has 33", id="a long subqueue"
        ),
        pytest.param("a;", "a subqueue name has 1 to 32 characters, this one has 0", id="no subqueue"),
        pytest.param(
            f"{'c' * 257}\\a", "a computer name has at most 256 characters, this one has 257", id="a computer"
        ),
        pytest.param("elsewhere\\a", "'elsewhere' is not this computer", id="another computer"),
        pytest.param(
            "system$;other", "'other' is not a system queue; these are deadletter, deadxact, journal",
            id="an unknown system queue",
        ),
        pytest.param("system$", "'' is not a system queue", id="no system queue"),
        pytest.param(".\\system$\\a", "is not a queue's name", id="a system queue with a backslash"),
        pytest.param("a\\b\\c\\d", "'a' is not this computer", id="too deep"),
        pytest.param(".\\b\\c", "is not a queue's name: write NAME, .\\private$\\NAME or .\\NAME", id="deep"),
    ],
)  # fmt: skip
def test_a_bad_name_is_refused_with_the_limit_and_the_value(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse(text)
    assert sentence in str(refusal.value)


@pytest.mark.parametrize(
    "text",
    ["q" * QUEUE_NAME_LIMIT, f"a;{'s' * SUBQUEUE_NAME_LIMIT}", f"{'c' * COMPUTER_NAME_LIMIT}\\a"],
    ids=["a queue", "a subqueue", "a computer"],
)
def test_a_name_of_the_greatest_length_is_taken(text: str) -> None:
    parse(text, "c" * COMPUTER_NAME_LIMIT)


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        path = parse(text)
    except UsageError:
        return
    assert parse(f".\\{path}") == path
