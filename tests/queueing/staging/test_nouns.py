"""Writers as a noun: what is declared is what the views know, for the user who asks."""

from __future__ import annotations

from reliquary.queueing.model.security.rights import MANAGER_LIST
from reliquary.queueing.staging.nouns import WRITER
from reliquary.queueing.staging.views import writers
from tests.queueing.manager_harness import Bench
from tests.queueing.staging.test_views import ALICE, BOB
from tests.queueing.staging.writing import publish
from tests.queueing.viewing import view_of


def test_those_of_the_user_of_the_view_are_listed() -> None:
    bench = Bench()
    bench.state.first_list = MANAGER_LIST
    publish(bench, query="hers", by=ALICE)
    [listed] = WRITER.listing.records(view_of(bench.state, ALICE))
    assert listed.query == "hers"
    assert [listed] == list(writers(bench.state, ALICE))
    assert list(WRITER.listing.records(view_of(bench.state, BOB))) == []
