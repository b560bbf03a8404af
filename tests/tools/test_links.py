"""Tests links and anchors of Markdown pages."""

from __future__ import annotations

from pathlib import Path

from tools import links


def test_links_in_code_are_no_links() -> None:
    text = "[a](x.md) `[b](y.md)`\n```\n[c](z.md)\n```\n![d](w.svg) [`e`](v.md#f)\n"
    assert [each.target for each in links.links(text)] == ["x.md", "w.svg", "v.md#f"]


def test_a_link_is_rewritten_and_all_else_stays() -> None:
    text = "see [`a`](x.md), `[b](x.md)` and [c](x.md#d)"
    changed = links.rewritten(text, lambda link: f"{link.label}(new#{link.anchor})")
    assert changed == "see [`a`](new#), `[b](x.md)` and [c](new#d)"


def test_a_heading_that_repeats_gets_a_number() -> None:
    assert links.anchors("# One\n## Two words, `code`\n## One\n<a id='no'><a id=\"yes\">\n") == {
        "one",
        "two-words-code",
        "one_1",
        "yes",
    }


def test_a_link_leads_from_the_folder_of_its_page() -> None:
    link = links.Link("[a]", "../b.md#c")
    assert links.place(Path("/project"), Path("docs/x/a.md"), link) == Path("docs/b.md")
    assert links.place(Path("/project"), Path("docs/x/a.md"), links.Link("[a]", "#c")) == Path("docs/x/a.md")
    assert links.Link("[a]", "https://host/").leaves
