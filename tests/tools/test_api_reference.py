"""The API's reference: what is declared stands there, what is written by hand stays."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from reliquary.client.nouns import NOUNS
from tests.client.labels import LABEL, LabelInfo
from tools import api_reference

ROOT = Path(__file__).parents[2]


def test_the_page_is_current() -> None:
    assert (ROOT / api_reference.PAGE).read_text() == api_reference.page(ROOT), "run ./dev docs"


def test_only_what_lies_between_the_marks_is_made_anew(tmp_path: Path) -> None:
    path = tmp_path / api_reference.PAGE
    path.parent.mkdir(parents=True)
    path.write_text(f"by hand\n{api_reference.BEGIN}\nmade before\n{api_reference.END}\nalso by hand\n")
    page = api_reference.page(tmp_path)
    assert page is not None
    assert page.startswith(f"by hand\n{api_reference.BEGIN}\n\n### `/{NOUNS[0].plural}`\n")
    assert page.endswith(f"|\n\n{api_reference.END}\nalso by hand\n")
    assert "made before" not in page
    path.write_text(page)
    assert api_reference.page(tmp_path) == page


def test_without_a_page_there_is_nothing_to_make(tmp_path: Path) -> None:
    assert api_reference.page(tmp_path) is None


def test_a_noun_has_its_paths_and_the_fields_of_its_record() -> None:
    assert (
        "\n".join(api_reference.section(LABEL))
        == """\
### `/labels`
- `GET /labels` → `{"labels": [LABEL…]}`
- `GET /labels/{queue}` → LABEL
- `POST /labels/{queue}/write` `{"text": string}` → LABEL: write on QUEUE

LABEL: the label of a queue: what somebody wrote on it.

| Field | Type | |
|---|---|---|
| `queue` | string |  |
| `label` | string | Empty if nothing is written there. |
| `words` | array of objects |  |
| `words[].text` | string |  |
| `words[].length` | number | In characters. |
| `initials` | array of strings |  |
"""
    )


def test_a_noun_that_is_only_listed_has_one_path() -> None:
    lines = list(api_reference.section(replace(LABEL, showing=None, acts=())))
    assert [line for line in lines if line.startswith("- ")] == ['- `GET /labels` → `{"labels": [LABEL…]}`']


def test_the_meaning_of_a_field_is_its_docstring() -> None:
    assert api_reference.field_docs(LabelInfo) == {"label": "Empty if nothing is written there."}
