"""Tests the API's reference: what is declared stands there, what is written by hand stays."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from reliquary.client.nouns import NOUNS
from reliquary.queueing.model.administration import Plane
from tests.client.labels import LABEL, LabelInfo
from tests.console.harness import Harness, play
from tools import api_reference

ROOT = Path(__file__).parents[2]


def test_the_page_is_current() -> None:
    assert (ROOT / api_reference.PAGE).read_text() == api_reference.page(ROOT), "run ./dev docs"


def test_only_what_lies_between_the_marks_is_made_anew(tmp_path: Path) -> None:
    data, control = api_reference.BEGIN[Plane.DATA], api_reference.BEGIN[Plane.CONTROL]
    path = tmp_path / api_reference.PAGE
    path.parent.mkdir(parents=True)
    made_before = f"made before\n{api_reference.END}\n"
    path.write_text(f"by hand\n{data}\n{made_before}also by hand\n{control}\n{made_before}the end\n")
    page = api_reference.page(tmp_path)
    assert page is not None
    first = {plane: next(noun for noun in NOUNS if noun.plane is plane) for plane in Plane}
    assert page.startswith(f"by hand\n{data}\n\n{next(api_reference.section(first[Plane.DATA]))}\n")
    between = f"|\n\n{api_reference.END}\nalso by hand\n{control}\n\n"
    assert f"{between}{next(api_reference.section(first[Plane.CONTROL]))}\n" in page
    assert page.endswith(f"|\n\n{api_reference.END}\nthe end\n")
    assert "made before" not in page
    path.write_text(page)
    assert api_reference.page(tmp_path) == page


@pytest.mark.parametrize("plane", list(Plane))
def test_the_page_lists_the_paths_that_the_plane_describes(plane: Plane, tmp_path: Path) -> None:
    async def scene(harness: Harness) -> None:
        client = harness.data if plane is Plane.DATA else harness.control
        described = json.loads((await client.request("GET", "/api/v1/openapi.json")).body)["paths"]
        expected = {
            f"| `{method.upper()} {path.removeprefix('/api/v1')}` | {each['summary']} |"
            for path, methods in described.items()
            for method, each in methods.items()
            if path != "/api/v1/openapi.json"
        }
        made = list(api_reference.paths(plane, NOUNS))[2:]
        assert set(made) == expected
        assert len(made) == len(expected) > 20

    play(tmp_path, scene)


def test_without_a_page_there_is_nothing_to_make(tmp_path: Path) -> None:
    assert api_reference.page(tmp_path) is None


def test_a_noun_has_its_paths_and_the_fields_of_its_record() -> None:
    assert (
        "\n".join(api_reference.section(LABEL))
        == """\
### `/labels`
- `GET /labels?word=string&empty=boolean` → `{"labels": [LABEL…]}`; `word`: only those with this word; \
`empty`: also queues without a label; [in pages](#pages)
- `GET /labels/{queue}` → LABEL
- `POST /labels/{queue}/write` `{"text": string}` → LABEL: write on QUEUE

LABEL: the label of a queue, as its creator wrote it.

| Field | Type | |
|---|---|---|
| `queue` | string |  |
| `label` | string | Empty if nothing is written there. |
| `words` | array of objects |  |
| `words[].text` | string |  |
| `words[].length` | number | The length of the label in characters. |
| `initials` | array of strings |  |
"""
    )


def test_a_noun_that_is_only_listed_has_one_path() -> None:
    plain = replace(LABEL, listing=replace(LABEL.listing, filters=()))
    lines = list(api_reference.section(replace(plain, showing=None, acts=())))
    [path] = [line for line in lines if line.startswith("- ")]
    assert path == '- `GET /labels` → `{"labels": [LABEL…]}`; [in pages](#pages)'


def test_records_of_a_queue_are_below_it() -> None:
    noun = replace(LABEL, showing=None, acts=(), plane=Plane.DATA, of_a_queue=True)
    heading, listed, *_ = api_reference.section(noun)
    assert heading == "### `/queues/{queue}/labels`"
    assert listed.startswith("- `GET /queues/{queue}/labels?word=string")


def test_the_meaning_of_a_field_is_its_docstring() -> None:
    assert api_reference.field_docs(LabelInfo) == {"label": "Empty if nothing is written there."}
