"""The kinds of alarms: each has its advice, and the page of alarms can show each.

`tests/deploy/test_files.py` compares them with the alert rules.
"""

from __future__ import annotations

import inspect
import re

from reliquary.console.web import alarms
from reliquary.console.web.alarm_kinds import ADVICE, Kind, Weight


def test_every_kind_has_an_advice_of_its_own() -> None:
    assert list(ADVICE) == list(Kind)
    assert len(set(ADVICE.values())) == len(Kind)
    assert all(kind.advice.endswith(".") for kind in Kind)
    assert Kind.NEARLY_FULL.weight is Weight.BAD
    assert Kind.DEAD_LETTERS.weight is Weight.LOOK


def test_every_kind_is_raised_somewhere() -> None:
    assert set(re.findall(r"Kind\.([A-Z_]+)", inspect.getsource(alarms))) == set(Kind.__members__)
