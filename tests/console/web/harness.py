"""A reader of pages: follows forms as a browser does, with the cookie and the hidden fields."""

from __future__ import annotations

from html.parser import HTMLParser
from urllib.parse import urlencode

from reliquary.net.http import Response
from tests.console.harness import Harness


class Outline(HTMLParser):
    """The tags and the text of a page, hidden fields of its forms, its properties, and rows of its tables."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.rows: list[list[str]] = []
        """The cells of all rows of tables, heads among them."""
        self._names: list[str] = []
        self._values: list[str] = []
        self._in_facts = False
        self._cell: list[str] | None = None
        """The list whose last text is open."""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "tr":
            self.rows.append([])
        self._in_facts = dict(attrs).get("class") == "facts" if tag == "dl" else self._in_facts
        if tag in {"th", "td"} or (tag in {"dt", "dd"} and self._in_facts):
            self._cell = self._names if tag == "dt" else self._values if tag == "dd" else self.rows[-1]
            self._cell.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in {"dt", "dd", "th", "td"}:
            self._cell = None

    def handle_data(self, data: str) -> None:
        self.text += data
        if self._cell is not None:
            self._cell[-1] += data.strip()

    @property
    def facts(self) -> dict[str, str]:
        """Return the properties that the page lists, by their headings."""
        return dict(zip(self._names, self._values, strict=True))

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Return the attributes of all tags of a name."""
        return [attributes for name, attributes in self.tags if name == tag]

    @property
    def links(self) -> list[str]:
        return [each["href"] or "" for each in self.all("a")]

    @property
    def csrf(self) -> str:
        return next(each["value"] or "" for each in self.all("input") if each.get("name") == "csrf")


class Reader:
    """A person with a browser without scripts."""

    def __init__(self, harness: Harness) -> None:
        self.stage = harness
        self.cookie = b""

    async def get(self, path: str) -> Response:
        headers = ((b"cookie", self.cookie),) if self.cookie else ()
        return await self.stage.control.request("GET", path, b"", headers)

    async def read(self, path: str, status: int = 200) -> Outline:
        """Return a page, which must have this status."""
        answer = await self.get(path)
        assert answer.status == status, answer.body
        return Outline(answer.body.decode())

    async def post(self, path: str, csrf: str, **fields: str) -> Response:
        """Send a form; a cookie that comes is kept."""
        headers = [(b"content-type", b"application/x-www-form-urlencoded")]
        if self.cookie:
            headers.append((b"cookie", self.cookie))
        body = urlencode({"csrf": csrf} | fields).encode()
        answer = await self.stage.control.request("POST", path, body, headers)
        for name, value in answer.headers:
            if name == b"set-cookie":
                self.cookie = value.partition(b";")[0]
        return answer

    async def submit(self, page: str, path: str, **fields: str) -> Outline:
        """Send a form of a page, and follow to where it leads."""
        answer = await self.post(path, (await self.read(page)).csrf, **fields)
        assert answer.status == 303, answer.body
        return await self.read(dict(answer.headers)[b"location"].decode())

    async def refused(self, page: str, path: str, status: int, **fields: str) -> str:
        """Send a form of a page that is not done; the text of the page that says so."""
        answer = await self.post(path, (await self.read(page)).csrf, **fields)
        assert answer.status == status, answer.body
        return Outline(answer.body.decode()).text
