"""Tests a server that listens with and without TLS at one time, as one that moves to TLS does: all
protocols.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.server.httpr_options import HttprOptions
from reliquary.server.srmp_options import SrmpOptions
from reliquary.server.wsrm_options import WsrmOptions
from tests.net.http.harness import until
from tests.server import test_httpr_between as httpr
from tests.server import test_srmp_between as srmp
from tests.server import test_wsrm_between as wsrm
from tests.server.test_srmp_between import Site, play, site, texts


@pytest.mark.parametrize(
    "destination",
    [
        pytest.param(Site.destination, id="SRMP"),
        pytest.param(httpr.destination, id="HTTPR"),
        pytest.param(wsrm.destination, id="WS-RM"),
    ],
)
def test_a_queue_is_reached_with_and_without_tls(
    tmp_path: Path, destination: Callable[[Site, str], str]
) -> None:
    among = httpr.Trusted(tmp_path)
    serving = {name: value for name, value in among.server.items() if name != "tls"}
    tables = (
        SrmpOptions(protocol=SrmpSettings(**srmp.SOON), **among.trust),
        HttprOptions(protocol=HttprSettings(**httpr.SOON), **among.trust),
        WsrmOptions(protocol=WsrmSettings(**wsrm.SOON), **among.trust),
    )

    async def scene() -> None:
        async with (
            site(tmp_path / "a", tables=tables) as a,
            site(tmp_path / "b", tables=tables, data_tls_port=0, **serving) as b,
        ):
            await b.create("orders")
            secured = replace(b, url=f"https://localhost:{b.server.bound[1].port}")
            for there, text in ((b, "plain"), (secured, "with TLS")):
                await a.send(destination(there, "orders"), text)
                assert texts(await b.receive("orders", 1)) == [text]
            await until(lambda: a.waiting == 0)

    play(scene)
