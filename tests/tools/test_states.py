"""State diagrams are drawn from the tables of the code."""

from __future__ import annotations

from enum import Enum

import pytest

from tools import states
from tools.drawing import DrawingRow


class Light(Enum):
    OFF = "off"
    ON = "switched-on"
    BROKEN = "broken"


class Touch(Enum):
    PRESS = "press"
    DROP = "drop"


TABLE = {
    (Light.OFF, Touch.PRESS): Light.ON,
    (Light.ON, Touch.PRESS): (Light.OFF, "a click"),
    (Light.BROKEN, Touch.PRESS): None,
    (Light.OFF, Touch.DROP): Light.BROKEN,
    (Light.ON, Touch.DROP): Light.BROKEN,
    (Light.BROKEN, Touch.DROP): Light.BROKEN,
}


def test_states_from_which_an_event_leads_to_one_state_share_a_row() -> None:
    assert states.steps_of(TABLE) == [
        DrawingRow("press", ("off",), "switched on"),
        DrawingRow("press", ("switched on",), "off"),
        DrawingRow("drop", ("off", "switched on"), "broken"),
    ]


def test_the_page_counts_every_case() -> None:
    text = "\n".join(states.section(states.Table("light", "A light", "a.light"), TABLE))
    assert "has 6 cases:\n4 change the state, 1 leave it as it is and 1 are refused." in text


@pytest.mark.parametrize("table", states.TABLES, ids=[each.name for each in states.TABLES])
def test_every_table_has_states_that_change(table: states.Table) -> None:
    assert states.steps_of(states.entries_of(table))
