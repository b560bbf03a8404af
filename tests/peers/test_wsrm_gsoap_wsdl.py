"""gSOAP's tools make a client of an endpoint's description, and it compiles with the plugin of RM 1.0.

The client of the guide, in test_wsrm_guide, has that of RM 1.1.
"""

from __future__ import annotations

import re
import urllib.request
from pathlib import Path

import pytest

from tests.e2e.sites import Site
from tests.peers.gsoap_build import FLAGS, IMPORTS, copy_plugins, run_tool
from tests.peers.wsrm_sites import endpoint, running, settings
from tools.system_packages import gsoap_folder

pytestmark = [pytest.mark.needs("gsoap"), pytest.mark.long]

PARTS = ("soapC", "soapClient", "wsaapi", "wsrmapi", "duration")


def test_the_description_of_an_endpoint_makes_a_client_that_compiles(tmp_path: Path) -> None:
    gsoap = gsoap_folder()
    assert gsoap is not None
    site = Site(tmp_path / "site")
    site.file = settings(site)
    with running(site):
        with site.connect() as manager:
            manager.create_queue("orders")
        url = endpoint(site, "orders")
        with urllib.request.urlopen(f"{url}?wsdl") as response:
            description = response.read()
    work = tmp_path / "client"
    work.mkdir()
    (work / "orders.wsdl").write_bytes(description)
    run_tool(work, "wsdl2h", "-c", "-t", gsoap / "WS" / "WS-typemap.dat", "-o", "orders.h", "orders.wsdl")
    header = (work / "orders.h").read_text()
    assert url in header
    for imported in ("wsa5.h", IMPORTS["1.0"]):  # by the assertions of its policies
        assert f'\n#import "{imported}"' in header
    copy_plugins(gsoap, work, "1.0")
    run_tool(
        work,
        "soapcpp2",
        "-C",
        "-c",
        "-a",
        "-L",
        "-w",
        "-x",
        f"-I{gsoap / 'import'}",
        f"-I{gsoap}",
        "orders.h",
    )
    run_tool(work, "cc", *FLAGS, "-I.", "-c", *(f"{part}.c" for part in PARTS))
    assert re.search(r" T soap_(send|call)___ns1__\w", run_tool(work, "nm", "soapClient.o"))
