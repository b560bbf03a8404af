"""The directory of a server: names travel whole."""

from __future__ import annotations

import reliquary
from tests.client.served import Served


def test_a_name_with_signs_of_an_address_travels_whole(server: Served) -> None:
    with reliquary.connect(server.data, control=server.control) as qm:
        made = qm.directory.add("connected-network", name="a/b?c=d&e %41")
        assert qm.directory.object("connected-network", made["name"]) == made
        assert qm.directory.objects("connected-network", f"name={made['name']}") == [made]
        qm.directory.remove("connected-network", made["name"])
