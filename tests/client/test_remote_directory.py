"""Tests the directory of a server: names travel whole."""

from __future__ import annotations

import pytest

import reliquary
from reliquary.views import pages
from tests.client.served import Served


def test_a_name_with_signs_of_an_address_travels_whole(server: Served) -> None:
    with reliquary.connect(server.data, control=server.control) as qm:
        made = qm.directory.add("connected-network", name="a/b?c=d&e %41")
        assert qm.directory.object("connected-network", made["name"]) == made
        assert qm.directory.objects("connected-network", f"name={made['name']}") == [made]
        qm.directory.remove("connected-network", made["name"])


def test_all_pages_are_followed(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pages, "PAGE", 2)
    with reliquary.connect(server.data, control=server.control) as qm:
        made = [qm.directory.add("connected-network", name=f"net{number}") for number in range(5)]
        found = qm.directory.objects("connected-network", "name>net")
        assert sorted(each["name"] for each in found) == [each["name"] for each in made]
        assert len(qm.directory.objects("connected-network")) == 5
        for each in made:
            qm.directory.remove("connected-network", each["name"])
