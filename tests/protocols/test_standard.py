"""Tests all protocols together: each destination has one carrier."""

from __future__ import annotations

import pytest

from reliquary.protocols.httpr.machine import Httpr
from reliquary.protocols.httpr.settings import HttprSettings
from reliquary.protocols.mqqb.machine import Mqqb
from reliquary.protocols.mqqb.settings import MqqbSettings
from reliquary.protocols.mqqp.machine import Mqqp
from reliquary.protocols.mqqp.settings import MqqpSettings
from reliquary.protocols.srmp.machine import Srmp
from reliquary.protocols.srmp.settings import SrmpSettings
from reliquary.protocols.standard import ALL_TABLES, standard
from reliquary.protocols.wsrm.machine import Wsrm
from reliquary.protocols.wsrm.settings import WsrmSettings
from reliquary.queueing.model.names.formats import parse_single
from reliquary.queueing.model.travel.carriers import Carriers
from reliquary.queueing.travel.loopback import LOOPBACK
from reliquary.store.memory import MemoryDisk
from reliquary.store.staging import StagedRows

CARRIERS = Carriers(each.carrier for each in (LOOPBACK, *standard()) if each.carrier is not None)


@pytest.mark.spec("DM-324")
@pytest.mark.parametrize(
    ("name", "carrier"),
    [
        (r"DIRECT=OS:a\b", None),
        (r"DIRECT=TCP:10.0.0.1\private$\b", None),
        (r"DIRECT=OS:LoopBack\private$\b", "loopback"),
        ("PUBLIC=6ba7b810-9dad-11d1-80b4-00c04fd430c8", None),
        ("DIRECT=HTTP://a/b", "srmp"),
        ("DIRECT=HTTPS://a/b", "srmp"),
        ("MULTICAST=224.1.1.1:1", "srmp"),
        ("DIRECT=HTTPR://a/b#c", "httpr"),
        ("DIRECT=HTTPRS://a/b#c", "httpr"),
        ("DIRECT=WSRM://a/b", "wsrm"),
        ("DIRECT=WSRMS://a/b", "wsrm"),
    ],
)
def test_every_kind_of_name_has_its_carrier_and_other_names_wait(name: str, carrier: str | None) -> None:
    found = CARRIERS.of(parse_single(name))
    assert (found.name if found else None) == carrier


def test_each_protocol_gets_its_settings_or_its_defaults() -> None:
    rows = StagedRows(MemoryDisk(ALL_TABLES))
    given = standard(SrmpSettings(window=7), WsrmSettings(window=9))
    srmp, httpr, wsrm, mqqp, mqqb = (each.machine(rows) for each in given)
    assert isinstance(srmp, Srmp)
    assert isinstance(httpr, Httpr)
    assert srmp.state.settings == SrmpSettings(window=7)
    assert httpr.state.settings == HttprSettings()
    assert isinstance(wsrm, Wsrm)
    assert wsrm.state.settings == WsrmSettings(window=9)
    assert isinstance(mqqp, Mqqp)
    assert mqqp.state.settings == MqqpSettings()
    assert isinstance(mqqb, Mqqb)
    assert mqqb.state.settings == MqqbSettings()


def test_settings_that_no_protocol_has_are_a_defect() -> None:
    with pytest.raises(AssertionError, match="no protocol has settings"):
        standard("srmp")
